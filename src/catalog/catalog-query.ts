/**
 * The query that reads the catalogs: sets that several lists need, and the lists. Its parameter is the list of exposed schemas as JSON. It
 * runs on PostgreSQL 14 to 18 with any search path.
 */
import { type Lists, selectLists } from './lists.ts';
import { citusCatalog, timescaleCatalog } from './load-placements.ts';
import type { RawCatalog } from './raw-catalog.ts';
import { tableLists } from './table-lists.ts';
import { typeLists } from './type-lists.ts';

const catalogSets = `
with exposed as materialized (
  select n.oid
  from pg_catalog.pg_namespace n
  where (n.nspname in (select s.name from pg_catalog.json_array_elements_text($1::json) s(name))) is true
),
relation as materialized (
  select c.oid, c.relname, c.relnamespace, c.relkind, c.reltype, c.relrowsecurity, c.relhassubclass, c.relhasrules
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
-- Types of columns, arguments and results, composite types that directives may name, the element types of arrays, the types that domains are based on, and the attributes of
-- composite types. They are few, which PostgreSQL only assumes if they come from an array: it would expect millions, and compare each
-- type with all of them.
used_type as materialized (
  with recursive used as (
    select pg_catalog.unnest(array(
      select a.atttypid from attribute a
      union select f.prorettype from function f
      union select pg_catalog.unnest(f.proargtypes::pg_catalog.oid[]) from function f
      union select pg_catalog.unnest(f.proallargtypes) from function f
      union select c.reltype from pg_catalog.pg_class c where c.relkind = 'c' and (c.relnamespace in (select e.oid from exposed e)) is true
    )) as id
    union
    select p.id
    from used u
    join pg_catalog.pg_type t on t.oid = u.id
    cross join lateral (
      select case when t.typtype = 'd' then t.typbasetype else t.typelem end as id where t.typtype = 'd' or t.typcategory = 'A'
      union all
      select g.rngsubtype from pg_catalog.pg_range g where t.typtype in ('r', 'm') and t.oid in (g.rngtypid, g.rngmultitypid)
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
    from: `pg_catalog.pg_description d where pg_catalog.strpos(pg_catalog.lower(d.description), '@graphql') > 0`,
  },
  ...tableLists,
  ...typeLists,
  vectorExtension: {
    members: { schemaId: 'x.extnamespace::int8', version: 'x.extversion' },
    from: `pg_catalog.pg_extension x where x.extname = 'vector'`,
  },
  placementCatalogs: {
    members: { name: 'c.name' },
    from: `(values ('${citusCatalog}'), ('${timescaleCatalog}')) c(name) where pg_catalog.to_regclass(c.name) is not null`,
  },
  searchConfigs: {
    members: { id: 'g.oid::int8', schemaId: 'g.cfgnamespace::int8', name: 'g.cfgname' },
    from: 'pg_catalog.pg_ts_config g',
    orderBy: 'g.oid',
  },
  postgis: { members: { schemaId: 'x.extnamespace::int8' }, from: `pg_catalog.pg_extension x where x.extname = 'postgis'` },
  trigrams: {
    members: { schemaId: 'n.oid::int8', schema: 'pg_catalog.quote_ident(n.nspname)' },
    from: `pg_catalog.pg_extension x join pg_catalog.pg_namespace n on n.oid = x.extnamespace where x.extname = 'pg_trgm'`,
  },
};

export const catalogQuery = `${catalogSets} ${selectLists(catalogLists)}`;
