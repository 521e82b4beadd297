import { type Lists, selectLists } from './lists.ts';
import type { RawCatalog } from './raw-catalog.ts';
import { roleIndependentTables } from './role-independence.ts';

const catalogSets = `
with exposed as materialized (
  select n.oid
  from pg_catalog.pg_namespace n
  where (n.nspname in (select s.name from pg_catalog.json_array_elements_text($1::json) s(name))) is true
),
relation as materialized (
  select c.oid, c.relname, c.relnamespace, c.relkind, c.reltype, c.relrowsecurity, c.reloptions, c.relhassubclass, c.relhasrules
  from pg_catalog.pg_class c
  where (c.relnamespace in (select e.oid from exposed e)) is true
    and c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relpersistence <> 't'
),
attribute as materialized (
  select a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attgenerated <> '' or a.attidentity <> '' as automatic,
    a.attgenerated <> '' or a.attidentity = 'a' as generated_always, a.atthasdef, a.attcollation
  from pg_catalog.pg_attribute a
  where (a.attrelid in (select r.oid from relation r)) is true and a.attnum > 0 and not a.attisdropped
),
-- Tables that inherit from another, with their ancestors at any depth.
heir as (
  with recursive h as (
    select i.inhparent as parent, i.inhrelid as child
    from pg_catalog.pg_inherits i
    where (i.inhparent in (select r.oid from relation r where r.relkind = 'r' and r.relhassubclass)) is true
    union
    select h.parent, i.inhrelid from h join pg_catalog.pg_inherits i on i.inhparent = h.child
  )
  select h.parent, h.child from h
),
-- Only of tables that allow ON CONFLICT: no update (2) or insert (3) rules.
unique_index as materialized (
  select i.indexrelid as id, i.indrelid as table_id, i.indimmediate as immediate, i.indnkeyatts as key_count, i.indkey, i.indcollation, i.indclass,
    (i.indexrelid in (select k.conindid from pg_catalog.pg_constraint k where k.contype in ('p', 'u'))) is true as is_constraint
  from pg_catalog.pg_index i
  where (i.indrelid in (select r.oid from relation r where r.relkind in ('r', 'p'))) is true
    and i.indisunique and i.indisvalid and not i.indisexclusion
    and (i.indrelid in (select w.ev_class from pg_catalog.pg_rewrite w where w.ev_type in ('2', '3'))) is not true
),
-- The search path is empty while PostgreSQL deparses definitions, so that it qualifies all names.
search_path as materialized (
  select p.value, pg_catalog.set_config('search_path', '', true)
  from (select pg_catalog.current_setting('search_path') as value offset 0) p
),
index_definition as materialized (
  select i.indexrelid as id, pg_catalog.pg_get_expr(i.indpred, i.indrelid) as condition,
    (
      select pg_catalog.json_agg(pg_catalog.json_build_array(
        pg_catalog.pg_get_indexdef(i.indexrelid, e.position::pg_catalog.int4, false), i.indcollation[e.position - 1]::pg_catalog.regcollation::text
      ) order by e.position)
      from pg_catalog.unnest(i.indkey::pg_catalog.int2[]) with ordinality e(number, position)
      where e.position <= i.indnkeyatts
    ) as elements,
    pg_catalog.concat(i.indexprs::text, i.indpred::text) as nodes,
    -- PostgreSQL 14 lacks this column.
    (pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct')::boolean as nulls_not_distinct
  from search_path p, pg_catalog.pg_index i
  where (i.indexrelid in (select u.id from unique_index u where not u.is_constraint)) is true and p.value is not null
),
restored_search_path as materialized (
  select pg_catalog.set_config('search_path', p.value, true)
  from search_path p
  where (select pg_catalog.count(d.elements) from index_definition d) >= 0
),
foreign_key as materialized (
  select k.oid, k.conname, k.conrelid, k.conkey, k.confrelid, k.confkey, k.convalidated, k.conparentid
  from pg_catalog.pg_constraint k
  where k.contype = 'f' and (k.conrelid in (select r.oid from relation r)) is true
    -- Only keys that refer to a B-tree. A temporal key (PERIOD) refers to a GiST index, and its rows match without being equal.
    and (select c.relam from pg_catalog.pg_class c where c.oid = k.conindid) = 403
),
function as materialized (
  select p.*
  from pg_catalog.pg_proc p
  where (p.pronamespace in (select e.oid from exposed e)) is true
    or (p.pronargs = 1 and (p.proargtypes[0] in (select r.reltype from relation r where r.reltype <> 0)) is true)
),
-- Domains that are NOT NULL, and domains over them. (A domain copies the default of its base domain, so defaults need no recursion.)
full_domain as (
  with recursive d as (
    select t.oid from pg_catalog.pg_type t where t.typtype = 'd' and t.typnotnull
    union
    select t.oid from pg_catalog.pg_type t join d on t.typbasetype = d.oid where t.typtype = 'd'
  )
  select d.oid from d
),
-- Types whose default B-tree ordering uses operators not named "<", and domains over them.
oddly_ordered as (
  with recursive d as (
    select c.opcintype as oid
    from pg_catalog.pg_opclass c
    where c.opcmethod = 403 and c.opcdefault
      and (c.opcintype in (select o.oprleft from pg_catalog.pg_operator o where o.oprname = '<' and o.oprright = o.oprleft)) is not true
    union
    select t.oid from pg_catalog.pg_type t join d on t.typbasetype = d.oid where t.typtype = 'd'
  )
  select d.oid from d
),
-- Types that PostgreSQL cannot put in order, such as json and point, and domains over them. A type that it takes for another without
-- conversion, as varchar for text, is ordered like that one.
unordered as (
  with recursive ordered as (
    select c.opcintype as oid from pg_catalog.pg_opclass c where c.opcmethod = 403 and c.opcdefault
  ),
  d as (
    select t.oid
    from pg_catalog.pg_type t
    where t.typtype = 'b' and t.typcategory <> 'A' and (t.oid in (select o.oid from ordered o)) is not true
      and (t.oid in (
        select k.castsource
        from pg_catalog.pg_cast k
        where k.castmethod = 'b' and k.castcontext = 'i' and (k.casttarget in (select o.oid from ordered o)) is true
      )) is not true
    union
    select t.oid from pg_catalog.pg_type t join d on t.typbasetype = d.oid where t.typtype = 'd'
  )
  select d.oid from d
),
-- Types whose "=" is not in pg_catalog, such as those of extensions, and domains over them, with the operator's schema and function.
own_operator as (
  with recursive d as (
    select c.opcintype as oid, o.oprnamespace as schema, o.oprcode::pg_catalog.oid as function
    from pg_catalog.pg_opclass c
    join pg_catalog.pg_amop m on m.amopfamily = c.opcfamily and m.amoplefttype = c.opcintype and m.amoprighttype = c.opcintype
    join pg_catalog.pg_operator o on o.oid = m.amopopr
    where c.opcmethod = 403 and c.opcdefault and m.amopstrategy = 3 and o.oprnamespace <> 'pg_catalog'::pg_catalog.regnamespace
    union
    select t.oid, d.schema, d.function from pg_catalog.pg_type t join d on t.typbasetype = d.oid where t.typtype = 'd'
  )
  select d.oid, d.schema, d.function from d
),
-- Types of columns, arguments and results, the element types of arrays, the types that domains are based on, and the attributes of
-- composite types.
used_type as materialized (
  with recursive used as (
    select u.id
    from (
      select a.atttypid as id from attribute a
      union select f.prorettype from function f
      union select pg_catalog.unnest(f.proargtypes::pg_catalog.oid[]) from function f
      union select pg_catalog.unnest(f.proallargtypes) from function f
    ) u
    union
    select p.id
    from used u
    join pg_catalog.pg_type t on t.oid = u.id
    cross join lateral (
      select case when t.typtype = 'd' then t.typbasetype else t.typelem end as id where t.typtype = 'd' or t.typcategory = 'A'
      union all
      select a.atttypid
      from pg_catalog.pg_class c join pg_catalog.pg_attribute a on a.attrelid = c.oid
      where t.typtype = 'c' and c.oid = t.typrelid and c.relkind = 'c' and a.attnum > 0 and not a.attisdropped
    ) p
  )
  select u.id from used u where u.id <> 0
),
composite as materialized (
  select c.oid, c.relname, c.relnamespace, c.reltype
  from pg_catalog.pg_class c
  where c.relkind = 'c' and (c.reltype in (select u.id from used_type u)) is true
)`;

export const catalogLists: Lists<RawCatalog> = {
  encoding: { members: { name: `pg_catalog.current_setting('server_encoding')` }, from: '(select) e' },
  exposed: { members: { id: 'e.oid::int8' }, from: 'exposed e' },
  schemas: {
    members: { id: 'n.oid::int8', name: 'n.nspname', quotedName: 'pg_catalog.quote_ident(n.nspname)' },
    from: 'pg_catalog.pg_namespace n',
  },
  tables: {
    members: {
      id: 'r.oid::int8',
      schemaId: 'r.relnamespace::int8',
      name: 'r.relname',
      kind: 'r.relkind',
      rowSecurity: 'r.relrowsecurity',
      options: 'r.reloptions',
      hasChildren: `r.relkind = 'r' and r.relhassubclass`,
      // NOT NULL is not reliable on foreign tables, where only their servers could enforce it, or for child tables, which may drop it.
      keepsNotNull: `r.relkind = 'r' and not r.relhassubclass or r.relkind = 'p' and not (
        select pg_catalog.count(*) > 0 from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid where c.relkind = 'f'
      )`,
      // The function fails if the foreign data wrapper has no handler.
      writable: `case
        when r.relkind in ('r', 'p') then 28
        when r.relkind = 'v' then pg_catalog.pg_relation_is_updatable(r.oid, true)
        when r.relkind = 'f' and (r.oid in (
          select f.ftrelid
          from pg_catalog.pg_foreign_table f
          join pg_catalog.pg_foreign_server v on v.oid = f.ftserver
          join pg_catalog.pg_foreign_data_wrapper w on w.oid = v.srvfdw
          where w.fdwhandler <> 0
        )) is true then pg_catalog.pg_relation_is_updatable(r.oid, true)
        else 0
      end`,
      // 7: row-level, before, insert. Such a trigger, like a rule, may fill in a column.
      fillsColumns: `r.relkind not in ('r', 'p') or r.relhasrules or (r.oid in (
        select t.tgrelid from pg_catalog.pg_trigger t where t.tgtype & 7 = 7
      )) is true`,
      // 6: statement-level, before, insert; 64: instead of it.
      runsBeforeInsert: '(r.oid in (select t.tgrelid from pg_catalog.pg_trigger t where t.tgtype & 71 = 6)) is true',
    },
    from: 'relation r',
    orderBy: 'r.oid',
  },
  roleIndependent: { members: { id: 'i.oid::int8' }, from: `(${roleIndependentTables}) i` },
  columns: {
    members: {
      tableId: 'a.attrelid::int8',
      number: 'a.attnum',
      name: 'a.attname',
      typeId: 'a.atttypid::int8',
      maxLength: 'case when a.atttypid in (1042, 1043) and a.atttypmod > 4 then a.atttypmod - 4 end',
      shownType: 'case when a.atttypmod >= 0 then pg_catalog.format_type(a.atttypid, a.atttypmod) end',
      notNull: 'a.attnotnull',
      automatic: 'a.automatic',
      generatedAlways: 'a.generated_always',
      hasDefault: `a.atthasdef or (a.atttypid in (
        select t.oid from pg_catalog.pg_type t where t.typtype = 'd' and t.typdefault is not null
      )) is true`,
      fullDomain: '(a.atttypid in (select d.oid from full_domain d)) is true',
      collationId: 'a.attcollation::int8',
    },
    from: 'attribute a',
    orderBy: 'a.attrelid, a.attnum',
  },
  composites: {
    members: { id: 'c.oid::int8', schemaId: 'c.relnamespace::int8', name: 'c.relname', typeId: 'c.reltype::int8' },
    from: 'composite c',
    orderBy: 'c.oid',
  },
  attributes: {
    members: {
      tableId: 'a.attrelid::int8',
      number: 'a.attnum',
      name: 'a.attname',
      typeId: 'a.atttypid::int8',
      maxLength: 'case when a.atttypid in (1042, 1043) and a.atttypmod > 4 then a.atttypmod - 4 end',
      shownType: 'case when a.atttypmod >= 0 then pg_catalog.format_type(a.atttypid, a.atttypmod) end',
    },
    from: `pg_catalog.pg_attribute a
      where (a.attrelid in (select c.oid from composite c)) is true and a.attnum > 0 and not a.attisdropped`,
    orderBy: 'a.attrelid, a.attnum',
  },
  collations: {
    members: { id: 'c.oid::int8', sql: `pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.collname)` },
    from: `pg_catalog.pg_collation c
      join pg_catalog.pg_namespace n on n.oid = c.collnamespace
      where (c.oid in (select a.attcollation from attribute a)) is true`,
  },
  sequences: {
    members: { tableId: 'd.refobjid::int8', number: 'd.refobjsubid' },
    from: `pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        and d.refobjsubid > 0 and d.deptype in ('a', 'i')
        and (d.objid in (select s.oid from pg_catalog.pg_class s where s.relkind = 'S')) is true
        and (d.refobjid in (select r.oid from relation r)) is true`,
  },
  unproven: {
    members: { tableId: 'u.table_id::int8', number: 'u.number' },
    from: `(
        select k.conrelid as table_id, k.conkey[1] as number
        from pg_catalog.pg_constraint k
        where k.contype = 'n' and not k.convalidated and (k.conrelid in (select r.oid from relation r)) is true
        union all
        select h.parent, p.attnum
        from heir h
        join pg_catalog.pg_attribute c on c.attrelid = h.child and c.attnum > 0 and not c.attnotnull
        join pg_catalog.pg_attribute p on p.attrelid = h.parent and p.attname = c.attname and p.attnotnull
      ) u`,
  },
  comments: {
    members: {
      kind: `case d.classoid
        when 'pg_catalog.pg_namespace'::pg_catalog.regclass then 'schema'
        when 'pg_catalog.pg_class'::pg_catalog.regclass then 'relation'
        when 'pg_catalog.pg_constraint'::pg_catalog.regclass then 'constraint'
        when 'pg_catalog.pg_type'::pg_catalog.regclass then 'type'
        when 'pg_catalog.pg_proc'::pg_catalog.regclass then 'function'
      end`,
      id: 'd.objoid::int8',
      number: 'd.objsubid',
      text: 'd.description',
    },
    from: `pg_catalog.pg_description d where pg_catalog.strpos(d.description, '@graphql(') > 0`,
  },
  indexes: {
    members: {
      tableId: 'i.indrelid::int8',
      primary: 'i.indisprimary',
      unique: 'i.indisunique and i.indexprs is null',
      immediate: 'i.indimmediate',
      keyCount: 'i.indnkeyatts',
      columns: 'i.indkey::pg_catalog.int2[]',
      // Only for a B-tree whose first key is in the order of "<"; pattern operator classes use another order.
      movesNulls: `case when i.indclass[0] in (
        select o.oid from pg_catalog.pg_opclass o where o.opcmethod = 403 and o.opcname not like '%pattern_ops'
      ) then i.indoption[0] in (1, 2) end`,
    },
    from: `pg_catalog.pg_index i where (i.indrelid in (select r.oid from relation r)) is true and i.indisvalid and i.indpred is null`,
    orderBy: 'i.indexrelid',
  },
  vectorIndexes: {
    members: { tableId: 'i.indrelid::int8', number: 'i.indkey[0]', method: 'm.amname', operatorClass: 'o.opcname' },
    from: `pg_catalog.pg_index i join pg_catalog.pg_opclass o on o.oid = i.indclass[0] join pg_catalog.pg_am m on m.oid = o.opcmethod
      where (i.indclass[0] in (
        select v.oid from pg_catalog.pg_opclass v join pg_catalog.pg_am a on a.oid = v.opcmethod where a.amname in ('hnsw', 'ivfflat')
      )) is true and (i.indrelid in (select r.oid from relation r)) is true and i.indisvalid and i.indkey[0] > 0`,
    orderBy: 'i.indexrelid',
  },
  vectorExtension: {
    members: { schemaId: 'x.extnamespace::int8', version: 'x.extversion' },
    from: `pg_catalog.pg_extension x where x.extname = 'vector'`,
  },
  uniqueIndexes: {
    members: {
      tableId: 'u.table_id::int8',
      id: 'u.id::int8',
      immediate: 'u.immediate',
      keyCount: 'u.key_count',
      columns: 'u.indkey::pg_catalog.int2[]',
    },
    from: 'unique_index u',
    orderBy: 'u.id',
  },
  uniqueIndexKinds: {
    members: {
      id: 'u.id::int8',
      collations: 'u.indcollation::pg_catalog.oid[]::int8[]',
      classes: 'u.indclass::pg_catalog.oid[]::int8[]',
    },
    from: 'unique_index u where (u.table_id in (select m.table_id from unique_index m where not m.is_constraint)) is true',
  },
  uniqueIndexDefinitions: {
    members: {
      id: 'd.id::int8',
      elements: 'd.elements',
      condition: 'd.condition',
      nodes: 'd.nodes',
      nullsNotDistinct: 'd.nulls_not_distinct',
    },
    from: 'index_definition d',
    after: 'restored_search_path',
  },
  uniqueIndexNames: {
    members: { id: 'c.oid::int8', name: 'c.relname' },
    from: `pg_catalog.pg_class c where c.relkind in ('i', 'I') and (c.oid in (select u.id from unique_index u)) is true`,
  },
  foreignKeys: {
    members: {
      id: 'k.oid::int8',
      name: 'k.conname',
      tableId: 'k.conrelid::int8',
      columns: 'k.conkey',
      targetId: 'k.confrelid::int8',
      targetColumns: 'k.confkey',
      validated: 'k.convalidated',
      parentId: 'k.conparentid::int8',
    },
    from: 'foreign_key k',
    orderBy: 'k.oid',
  },
  targets: {
    members: { id: 'c.oid::int8', schemaId: 'c.relnamespace::int8', name: 'c.relname' },
    from: `pg_catalog.pg_class c
      where (c.oid in (select k.confrelid from foreign_key k)) is true and (c.oid in (select r.oid from relation r)) is not true`,
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
  searchConfigs: {
    members: { id: 'g.oid::int8', schemaId: 'g.cfgnamespace::int8', name: 'g.cfgname' },
    from: 'pg_catalog.pg_ts_config g',
    orderBy: 'g.oid',
  },
  trigrams: {
    members: { schemaId: 'n.oid::int8', schema: 'pg_catalog.quote_ident(n.nspname)' },
    from: `pg_catalog.pg_extension x join pg_catalog.pg_namespace n on n.oid = x.extnamespace where x.extname = 'pg_trgm'`,
  },
  // How PostgreSQL fills in columns of type tsvector (3614): `to_tsvector('english'::regconfig, …)`, or the arguments of the trigger
  // tsvector_update_trigger, which are texts that end with zero bytes.
  searchVectors: {
    members: { tableId: 's.table_id::int8', number: 's.number', config: 's.config' },
    from: `(
        select a.attrelid as table_id, a.attnum as number,
          pg_catalog.substring(pg_catalog.pg_get_expr(x.adbin, x.adrelid), $$to_tsvector\\('([^']*)'::$$) as config
        from attribute a join pg_catalog.pg_attrdef x on x.adrelid = a.attrelid and x.adnum = a.attnum
        where a.atttypid = 3614
        union all
        select a.attrelid, a.attnum, g.arguments[2]
        from pg_catalog.pg_trigger t
        join pg_catalog.pg_proc p on p.oid = t.tgfoid and p.proname = 'tsvector_update_trigger' and p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
        cross join pg_catalog.regexp_split_to_array(pg_catalog.encode(t.tgargs, 'escape'), $$\\\\000$$) g(arguments)
        join attribute a on a.attrelid = t.tgrelid and a.attname = g.arguments[1] and a.atttypid = 3614
      ) s where s.config is not null`,
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
      securityDefiner: 'f.prosecdef',
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
};

export const catalogQuery = `${catalogSets} ${selectLists(catalogLists)}`;
