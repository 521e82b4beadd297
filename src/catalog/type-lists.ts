/** What the catalogs say of types and functions. The sets that it selects from are those of `catalogQuery`. */
import type { Lists } from './lists.ts';
import type { RawCatalog } from './raw-catalog.ts';

/** What attributes of composite types and columns of tables have in common, of `pg_attribute a`. */
export const attributeMembers = {
  tableId: 'a.attrelid::int8',
  number: 'a.attnum',
  name: 'a.attname',
  typeId: 'a.atttypid::int8',
  maxLength: 'case when a.atttypid in (1042, 1043) and a.atttypmod > 4 then a.atttypmod - 4 end',
  shownType: 'case when a.atttypmod >= 0 then pg_catalog.format_type(a.atttypid, a.atttypmod) end',
} as const;

export const typeLists = {
  composites: {
    members: { id: 'c.oid::int8', schemaId: 'c.relnamespace::int8', name: 'c.relname', typeId: 'c.reltype::int8' },
    from: 'composite c',
    orderBy: 'c.oid',
  },
  attributes: {
    members: attributeMembers,
    from: `pg_catalog.pg_attribute a
      where (a.attrelid in (select c.oid from composite c)) is true and a.attnum > 0 and not a.attisdropped`,
    orderBy: 'a.attrelid, a.attnum',
  },
  types: {
    members: {
      id: 't.oid::int8',
      schemaId: 't.typnamespace::int8',
      name: 't.typname',
      quotedName: 'pg_catalog.quote_ident(t.typname)',
      kind: 't.typtype',
      category: 't.typcategory',
      elementId: `case when t.typcategory = 'A' then t.typelem::int8 else 0 end`,
      relationId: 't.typrelid::int8',
      shown: 'pg_catalog.format_type(t.oid, -1)',
      base: `case when t.typtype = 'd' then (
        with recursive base as (
          select t.typbasetype as id
          union all
          select d.typbasetype from base b join pg_catalog.pg_type d on d.oid = b.id where d.typtype = 'd'
        )
        select pg_catalog.json_build_array(
          pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(e.typname), n.oid::int8, e.oid::int8
        )
        from base b join pg_catalog.pg_type e on e.oid = b.id join pg_catalog.pg_namespace n on n.oid = e.typnamespace
        where e.typtype <> 'd'
      ) end`,
      boundId: `case when t.typtype in ('r', 'm') then (
        select g.rngsubtype::int8 from pg_catalog.pg_range g where t.oid in (g.rngtypid, g.rngmultitypid)
      ) else 0 end`,
      oddlyOrdered: '(t.oid in (select d.oid from oddly_ordered d)) is true',
      unordered: '(t.oid in (select d.oid from unordered d)) is true',
      delimiter: 't.typdelim',
    },
    from: `pg_catalog.pg_type t
      where (t.oid in (select u.id from used_type u)) is true
        or (t.typtype = 'e' and (t.typnamespace in (select e.oid from exposed e)) is true)`,
    orderBy: 't.oid',
  },
  domainChecks: {
    members: { typeId: 'k.contypid::int8', sql: 'pg_catalog.pg_get_constraintdef(k.oid)' },
    from: `pg_catalog.pg_constraint k where k.contype = 'c' and (k.contypid in (select u.id from used_type u)) is true`,
    orderBy: 'k.contypid, k.conname',
  },
  ownOperators: {
    members: { typeId: 'w.oid::int8', schemaId: 'w.schema::int8', functionId: 'w.function::int8' },
    from: 'own_operator w where (w.oid in (select a.atttypid from attribute a)) is true',
    orderBy: 'w.oid',
  },
  arrayOperators: {
    members: { typeId: 'o.oprleft::int8', functionId: 'o.oprcode::pg_catalog.oid::int8' },
    from: `pg_catalog.pg_operator o
      where o.oprname in ('@>', '<@', '&&') and o.oprleft = o.oprright and (o.oprleft in (
        select t.oid from pg_catalog.pg_type t where t.typcategory = 'A' and (t.oid in (select a.atttypid from attribute a)) is true
      )) is true`,
  },
  labels: {
    members: { typeId: 'v.enumtypid::int8', label: 'v.enumlabel' },
    from: `pg_catalog.pg_enum v where (v.enumtypid in (
        select t.oid from pg_catalog.pg_type t where t.typtype = 'e' and (t.typnamespace in (select e.oid from exposed e)) is true
      )) is true`,
    orderBy: 'v.enumtypid, v.enumsortorder',
  },
  functions: {
    members: {
      id: 'f.oid::int8',
      schemaId: 'f.pronamespace::int8',
      name: 'f.proname',
      kind: 'f.prokind',
      extension: `(f.oid in (
        select x.objid from pg_catalog.pg_depend x where x.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and x.deptype = 'e'
      )) is true`,
      volatile: `f.provolatile = 'v'`,
      plpgsql: `(f.prolang in (select l.oid from pg_catalog.pg_language l where l.lanname = 'plpgsql')) is true`,
      variadic: 'f.provariadic <> 0',
      returnsSet: 'f.proretset',
      rows: 'f.prorows',
      resultTypeId: 'f.prorettype::int8',
      argumentTypes: 'f.proargtypes::pg_catalog.oid[]::int8[]',
      argumentNames: 'f.proargnames',
      argumentModes: 'f.proargmodes',
      allTypes: 'f.proallargtypes::int8[]',
      defaultCount: 'f.pronargdefaults',
      ambiguous: `f.pronargs = 1 and ((f.pronamespace, f.proname, f.proargtypes[0]) in (
        select p.pronamespace, p.proname, p.proargtypes[0] from pg_catalog.pg_proc p where p.pronargs > 1 and p.pronargs <= p.pronargdefaults + 1
      )) is true`,
    },
    from: 'function f',
    orderBy: 'f.oid',
  },
  defaults: {
    members: {
      functionId: 'd.oid::int8',
      position: 'd.position',
      sql: 'pg_catalog.pg_get_function_arg_default(d.oid, d.position)',
    },
    from: `(
        select f.oid, pg_catalog.generate_series(1, coalesce(pg_catalog.cardinality(f.proallargtypes), f.pronargs)) as position
        from function f
        where f.pronargdefaults > 0
      ) d`,
  },
} as const satisfies Partial<Lists<RawCatalog>>;
