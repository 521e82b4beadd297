/**
 * The introspection query: everything that `load-catalog.ts` needs from the system catalogs, in one row with a text column for each list.
 * Its parameter is the list of exposed schemas as JSON. It runs on PostgreSQL 14 to 18 with any search path.
 *
 * It must be fast for thousands of tables, even right after they were created, when the system catalogs have no statistics and PostgreSQL
 * may plan a join as nested loops. Its estimated cost must stay low, or PostgreSQL compiles it (JIT), which takes seconds. So it avoids
 * joins and per-row subqueries: it selects rows by membership in a set, `(x in (...)) is true`, which PostgreSQL looks up in a hash table
 * instead of planning a join, and `load-catalog.ts` puts the parts together.
 */
import { catalogSets } from './catalog-sets.ts';
import { rowSeparator } from './parse-rows.ts';
import type { RawCatalog } from './raw-catalog.ts';
import { roleIndependentTables } from './role-independence.ts';

const separator = `pg_catalog.chr(${rowSeparator.charCodeAt(0)})`;

/**
 * Each list as text for `parseRows`. Rows are JSON arrays, half the size of objects; `raw-catalog.ts` names their members in the same
 * order.
 */
const lists: Readonly<Record<keyof RawCatalog, string>> = {
  encoding: `select pg_catalog.json_build_array(pg_catalog.current_setting('server_encoding'))::text`,
  setting: `select pg_catalog.string_agg(e.oid::text, ${separator}) from exposed e`,
  schemas: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(n.oid::int8, n.nspname, pg_catalog.quote_ident(n.nspname))::text, ${separator})
    from pg_catalog.pg_namespace n`,
  tables: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      r.oid::int8, r.relnamespace::int8, r.relname, r.relkind, r.relrowsecurity, r.reloptions,
      r.relkind = 'r' and r.relhassubclass,
      -- NOT NULL is not reliable on foreign tables, where only their servers could enforce it, or for child tables, which may drop it.
      r.relkind = 'r' and not r.relhassubclass or r.relkind = 'p' and not (
        select pg_catalog.count(*) > 0 from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid where c.relkind = 'f'
      ),
      case
        when r.relkind in ('r', 'p') then 28
        when r.relkind = 'v' then pg_catalog.pg_relation_is_updatable(r.oid, true)
        -- The function fails if the foreign data wrapper has no handler.
        when r.relkind = 'f' and (r.oid in (
          select f.ftrelid
          from pg_catalog.pg_foreign_table f
          join pg_catalog.pg_foreign_server v on v.oid = f.ftserver
          join pg_catalog.pg_foreign_data_wrapper w on w.oid = v.srvfdw
          where w.fdwhandler <> 0
        )) is true then pg_catalog.pg_relation_is_updatable(r.oid, true)
        else 0
      end,
      -- 7: row-level, before, insert. Such a trigger, like a rule, may fill in a column.
      r.relkind not in ('r', 'p') or r.relhasrules or (r.oid in (
        select t.tgrelid from pg_catalog.pg_trigger t where t.tgtype & 7 = 7
      )) is true,
      -- 6: statement-level, before, insert; 64: instead of it.
      (r.oid in (select t.tgrelid from pg_catalog.pg_trigger t where t.tgtype & 71 = 6)) is true
    )::text, ${separator} order by r.oid)
    from relation r`,
  roleIndependent: `select pg_catalog.string_agg(i.oid::text, ${separator}) from (${roleIndependentTables}) i`,
  columns: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      a.attrelid::int8, a.attnum, a.attname, a.atttypid::int8,
      case when a.atttypid in (1042, 1043) and a.atttypmod > 4 then a.atttypmod - 4 end,
      case when a.atttypmod >= 0 then pg_catalog.format_type(a.atttypid, a.atttypmod) end,
      a.attnotnull, a.automatic, a.generated_always,
      a.atthasdef or (a.atttypid in (select t.oid from pg_catalog.pg_type t where t.typtype = 'd' and t.typdefault is not null)) is true,
      (a.atttypid in (select d.oid from full_domain d)) is true, a.attcollation::int8
    )::text, ${separator} order by a.attrelid, a.attnum)
    from attribute a`,
  collations: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(c.oid::int8, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.collname))::text, ${separator})
    from pg_catalog.pg_collation c
    join pg_catalog.pg_namespace n on n.oid = c.collnamespace
    where (c.oid in (select a.attcollation from attribute a)) is true`,
  // Columns that own a sequence: serial and identity.
  sequences: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(d.refobjid::int8, d.refobjsubid)::text, ${separator})
    from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      and d.refobjsubid > 0 and d.deptype in ('a', 'i')
      and (d.objid in (select s.oid from pg_catalog.pg_class s where s.relkind = 'S')) is true
      and (d.refobjid in (select r.oid from relation r)) is true`,
  // Columns whose NOT NULL constraint is not validated, or that a child table has without the constraint. (Partitions cannot lack it.)
  unproven: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(u.table_id::int8, u.number)::text, ${separator})
    from (
      select k.conrelid as table_id, k.conkey[1] as number
      from pg_catalog.pg_constraint k
      where k.contype = 'n' and not k.convalidated and (k.conrelid in (select r.oid from relation r)) is true
      union all
      select h.parent, p.attnum
      from heir h
      join pg_catalog.pg_attribute c on c.attrelid = h.child and c.attnum > 0 and not c.attnotnull
      join pg_catalog.pg_attribute p on p.attrelid = h.parent and p.attname = c.attname and p.attnotnull
    ) u`,
  comments: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      case d.classoid
        when 'pg_catalog.pg_namespace'::pg_catalog.regclass then 'schema'
        when 'pg_catalog.pg_class'::pg_catalog.regclass then 'relation'
        when 'pg_catalog.pg_constraint'::pg_catalog.regclass then 'constraint'
        when 'pg_catalog.pg_type'::pg_catalog.regclass then 'type'
        when 'pg_catalog.pg_proc'::pg_catalog.regclass then 'function'
      end,
      d.objoid::int8, d.objsubid, d.description
    )::text, ${separator})
    from pg_catalog.pg_description d
    where pg_catalog.strpos(d.description, '@graphql(') > 0`,
  indexes: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      i.indrelid::int8, i.indisprimary, i.indisunique and i.indexprs is null, i.indimmediate, i.indnkeyatts, i.indkey::pg_catalog.int2[],
      -- Only for a B-tree whose first key is in the order of "<"; pattern operator classes use another order.
      case when i.indclass[0] in (
        select o.oid from pg_catalog.pg_opclass o where o.opcmethod = 403 and o.opcname not like '%pattern_ops'
      ) then i.indoption[0] in (1, 2) end
    )::text, ${separator} order by i.indexrelid)
    from pg_catalog.pg_index i
    where (i.indrelid in (select r.oid from relation r)) is true and i.indisvalid and i.indpred is null`,
  uniqueIndexes: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      u.table_id::int8, u.id::int8, u.is_constraint, u.immediate, u.key_count, u.indkey::pg_catalog.int2[]
    )::text, ${separator} order by u.id)
    from unique_index u`,
  // Only for tables that have unique indexes without a constraint, which must be told apart.
  uniqueIndexKinds: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      u.id::int8, u.indcollation::pg_catalog.oid[]::int8[], u.indclass::pg_catalog.oid[]::int8[]
    )::text, ${separator})
    from unique_index u
    where (u.table_id in (select m.table_id from unique_index m where not m.is_constraint)) is true`,
  uniqueIndexDefinitions: `
    select (
      select pg_catalog.string_agg(pg_catalog.json_build_array(d.id::int8, d.elements, d.condition, d.nodes, d.nulls_not_distinct)::text, ${separator})
      from index_definition d
    )
    from restored_search_path`,
  uniqueIndexNames: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(c.oid::int8, c.relname)::text, ${separator})
    from pg_catalog.pg_class c
    where c.relkind in ('i', 'I') and (c.oid in (select u.id from unique_index u)) is true`,
  foreignKeys: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      k.oid::int8, k.conname, k.conrelid::int8, k.conkey, k.confrelid::int8, k.confkey, k.convalidated, k.conparentid::int8
    )::text, ${separator} order by k.oid)
    from foreign_key k`,
  // Unexposed tables that foreign keys refer to.
  targets: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(c.oid::int8, c.relnamespace::int8, c.relname)::text, ${separator})
    from pg_catalog.pg_class c
    where (c.oid in (select k.confrelid from foreign_key k)) is true and (c.oid in (select r.oid from relation r)) is not true`,
  types: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      t.oid::int8, t.typnamespace::int8, t.typname, pg_catalog.quote_ident(t.typname), t.typtype, t.typcategory,
      case when t.typcategory = 'A' then t.typelem::int8 else 0 end, t.typrelid::int8, pg_catalog.format_type(t.oid, -1),
      case when t.typtype = 'd' then (
        with recursive base as (
          select t.typbasetype as id
          union all
          select d.typbasetype from base b join pg_catalog.pg_type d on d.oid = b.id where d.typtype = 'd'
        )
        select pg_catalog.json_build_array(pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(e.typname), n.oid::int8)
        from base b join pg_catalog.pg_type e on e.oid = b.id join pg_catalog.pg_namespace n on n.oid = e.typnamespace
        where e.typtype <> 'd'
      ) end,
      (t.oid in (select d.oid from oddly_ordered d)) is true,
      (t.oid in (select d.oid from unordered d)) is true, t.typdelim
    )::text, ${separator} order by t.oid)
    from pg_catalog.pg_type t
    where (t.oid in (select u.id from used_type u)) is true
      or (t.oid in (
        select x.typelem from pg_catalog.pg_type x where x.typcategory = 'A' and (x.oid in (select u.id from used_type u)) is true
      )) is true
      or (t.typtype = 'e' and (t.typnamespace in (select e.oid from exposed e)) is true)`,
  // Only for types of columns.
  ownOperators: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(w.oid::int8, w.schema::int8, w.function::int8)::text, ${separator} order by w.oid)
    from own_operator w
    where (w.oid in (select a.atttypid from attribute a)) is true`,
  // Operators that PostgreSQL prefers to those of all arrays, such as those of intarray. Only for types of columns.
  arrayOperators: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(o.oprleft::int8, o.oprcode::pg_catalog.oid::int8)::text, ${separator})
    from pg_catalog.pg_operator o
    where o.oprname in ('@>', '<@', '&&') and o.oprleft = o.oprright and (o.oprleft in (
      select t.oid from pg_catalog.pg_type t where t.typcategory = 'A' and (t.oid in (select a.atttypid from attribute a)) is true
    )) is true`,
  labels: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(v.enumtypid::int8, v.enumlabel)::text, ${separator} order by v.enumtypid, v.enumsortorder)
    from pg_catalog.pg_enum v
    where (v.enumtypid in (
      select t.oid from pg_catalog.pg_type t where t.typtype = 'e' and (t.typnamespace in (select e.oid from exposed e)) is true
    )) is true`,
  functions: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      f.oid::int8, f.pronamespace::int8, f.proname, f.prokind,
      (f.oid in (
        select x.objid from pg_catalog.pg_depend x
        where x.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and x.deptype = 'e'
      )) is true,
      f.provolatile = 'v', f.prosecdef,
      (f.prolang in (select l.oid from pg_catalog.pg_language l where l.lanname = 'plpgsql')) is true,
      f.provariadic <> 0, f.proretset, f.prorows, f.prorettype::int8,
      f.proargtypes::pg_catalog.oid[]::int8[], f.proargnames, f.proargmodes, f.pronargdefaults,
      f.pronargs = 1 and ((f.pronamespace, f.proname, f.proargtypes[0]) in (
        select p.pronamespace, p.proname, p.proargtypes[0] from pg_catalog.pg_proc p where p.pronargs > 1 and p.pronargs <= p.pronargdefaults + 1
      )) is true
    )::text, ${separator} order by f.oid)
    from function f`,
  defaults: `
    select pg_catalog.string_agg(pg_catalog.json_build_array(
      d.oid::int8, d.position, pg_catalog.pg_get_function_arg_default(d.oid, d.position)
    )::text, ${separator})
    from (
      select f.oid, pg_catalog.generate_series(1, coalesce(pg_catalog.cardinality(f.proallargtypes), f.pronargs)) as position
      from function f
      where f.pronargdefaults > 0
    ) d`,
};

/** Names of the lists, in column order. */
export const listNames = Object.keys(lists) as readonly (keyof RawCatalog)[];

/** Selects each list as a column. */
export const catalogQuery = `${catalogSets} select ${Object.values(lists)
  .map((list) => `(${list})`)
  .join(', ')}`;
