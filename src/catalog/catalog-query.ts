/**
 * The one introspection query: all that `load-catalog.ts` needs of the system catalogs, as one row with one column of JSON text.
 * Its parameter is the list of exposed schemas as JSON. It runs on PostgreSQL 14 to 18 and depends on no search path.
 *
 * It has to be fast for thousands of tables, also right after they were made, when the system catalogs have no statistics and a join
 * may be planned as a loop within a loop; and its estimated cost has to stay small, for else PostgreSQL compiles it (JIT), which takes
 * seconds. So there are neither joins nor subqueries for each row: rows are picked by membership in a set, `(x in (...)) is true`,
 * which PostgreSQL does not turn into a join but looks up in a hash table, and `load-catalog.ts` puts the parts together.
 */

/** Rows come as JSON arrays, which is half the bytes of objects; `raw-catalog.ts` names their members in the same order. */
export const catalogQuery = `
with exposed as materialized (
  select n.oid
  from pg_catalog.pg_namespace n
  where (n.nspname in (select s.name from pg_catalog.json_array_elements_text($1::json) s(name))) is true
),
relation as materialized (
  select c.oid, c.relname, c.relnamespace, c.relkind, c.reltype, c.relrowsecurity, c.reloptions, c.relhassubclass
  from pg_catalog.pg_class c
  where (c.relnamespace in (select e.oid from exposed e)) is true
    and c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relpersistence <> 't'
),
attribute as materialized (
  select a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attgenerated <> '' or a.attidentity <> '' as automatic
  from pg_catalog.pg_attribute a
  where (a.attrelid in (select r.oid from relation r)) is true and a.attnum > 0 and not a.attisdropped
),
foreign_key as materialized (
  select k.oid, k.conname, k.conrelid, k.conkey, k.confrelid, k.confkey, k.convalidated, k.conparentid
  from pg_catalog.pg_constraint k
  where k.contype = 'f' and (k.conrelid in (select r.oid from relation r)) is true
),
function as materialized (
  select p.*
  from pg_catalog.pg_proc p
  where (p.pronamespace in (select e.oid from exposed e)) is true
    or (p.pronargs = 1 and (p.proargtypes[0] in (select r.reltype from relation r where r.reltype <> 0)) is true)
),
used_type as materialized (
  select a.atttypid as id from attribute a
  union select f.prorettype from function f
  union select pg_catalog.unnest(f.proargtypes::pg_catalog.oid[]) from function f
)
select pg_catalog.json_build_object(
  'setting', (select pg_catalog.json_agg(e.oid::int8) from exposed e),
  'schemas', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(n.oid::int8, n.nspname, pg_catalog.quote_ident(n.nspname)))
    from pg_catalog.pg_namespace n
  ),
  'tables', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      r.oid::int8, r.relnamespace::int8, r.relname, r.relkind, r.relrowsecurity, r.reloptions,
      r.relkind = 'r' and r.relhassubclass,
      -- Only the servers of foreign tables could enforce it, and a table may drop what it inherits.
      r.relkind = 'r' and not r.relhassubclass or r.relkind = 'p' and not (
        select pg_catalog.count(*) > 0 from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid where c.relkind = 'f'
      ),
      case
        when r.relkind in ('r', 'p') then 28
        when r.relkind = 'v' then pg_catalog.pg_relation_is_updatable(r.oid, true)
        -- A wrapper without a handler makes the function fail.
        when r.relkind = 'f' and (r.oid in (
          select f.ftrelid
          from pg_catalog.pg_foreign_table f
          join pg_catalog.pg_foreign_server v on v.oid = f.ftserver
          join pg_catalog.pg_foreign_data_wrapper w on w.oid = v.srvfdw
          where w.fdwhandler <> 0
        )) is true then pg_catalog.pg_relation_is_updatable(r.oid, true)
        else 0
      end
    ) order by r.oid)
    from relation r
  ),
  'columns', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      a.attrelid::int8, a.attnum, a.attname, a.atttypid::int8,
      case when a.atttypid in (1042, 1043) and a.atttypmod > 4 then a.atttypmod - 4 end,
      case when a.atttypmod >= 0 then pg_catalog.format_type(a.atttypid, a.atttypmod) end,
      a.attnotnull, a.automatic
    ) order by a.attrelid, a.attnum)
    from attribute a
  ),
  -- The columns that have a sequence of their own: serial and identity.
  'sequences', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(d.refobjid::int8, d.refobjsubid))
    from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      and d.refobjsubid > 0 and d.deptype in ('a', 'i')
      and (d.objid in (select s.oid from pg_catalog.pg_class s where s.relkind = 'S')) is true
      and (d.refobjid in (select r.oid from relation r)) is true
  ),
  -- The columns that are to be not null, but not proven to be.
  'unproven', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(k.conrelid::int8, k.conkey[1]))
    from pg_catalog.pg_constraint k
    where k.contype = 'n' and not k.convalidated and (k.conrelid in (select r.oid from relation r)) is true
  ),
  'comments', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      case d.classoid
        when 'pg_catalog.pg_namespace'::pg_catalog.regclass then 'schema'
        when 'pg_catalog.pg_class'::pg_catalog.regclass then 'relation'
        when 'pg_catalog.pg_constraint'::pg_catalog.regclass then 'constraint'
        when 'pg_catalog.pg_type'::pg_catalog.regclass then 'type'
        when 'pg_catalog.pg_proc'::pg_catalog.regclass then 'function'
      end,
      d.objoid::int8, d.objsubid, d.description
    ))
    from pg_catalog.pg_description d
    where pg_catalog.strpos(d.description, '@graphql(') > 0
  ),
  'indexes', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      i.indrelid::int8, i.indisprimary, i.indisunique and i.indexprs is null, i.indimmediate, i.indnkeyatts, i.indkey::pg_catalog.int2[]
    ) order by i.indexrelid)
    from pg_catalog.pg_index i
    where (i.indrelid in (select r.oid from relation r)) is true and i.indisvalid and i.indpred is null
  ),
  'foreignKeys', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      k.oid::int8, k.conname, k.conrelid::int8, k.conkey, k.confrelid::int8, k.confkey, k.convalidated, k.conparentid::int8
    ) order by k.oid)
    from foreign_key k
  ),
  -- What foreign keys refer to without being exposed.
  'targets', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(c.oid::int8, c.relnamespace::int8, c.relname))
    from pg_catalog.pg_class c
    where (c.oid in (select k.confrelid from foreign_key k)) is true and (c.oid in (select r.oid from relation r)) is not true
  ),
  'types', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      t.oid::int8, t.typnamespace::int8, t.typname, pg_catalog.quote_ident(t.typname), t.typtype, t.typcategory,
      case when t.typcategory = 'A' then t.typelem::int8 else 0 end, t.typrelid::int8, pg_catalog.format_type(t.oid, -1)
    ) order by t.oid)
    from pg_catalog.pg_type t
    where (t.oid in (select u.id from used_type u)) is true
      or (t.oid in (
        select x.typelem from pg_catalog.pg_type x where x.typcategory = 'A' and (x.oid in (select u.id from used_type u)) is true
      )) is true
      or (t.typtype = 'e' and (t.typnamespace in (select e.oid from exposed e)) is true)
  ),
  'labels', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(v.enumtypid::int8, v.enumlabel) order by v.enumtypid, v.enumsortorder)
    from pg_catalog.pg_enum v
    where (v.enumtypid in (
      select t.oid from pg_catalog.pg_type t where t.typtype = 'e' and (t.typnamespace in (select e.oid from exposed e)) is true
    )) is true
  ),
  'functions', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      f.oid::int8, f.pronamespace::int8, f.proname, f.prokind,
      (f.oid in (
        select x.objid from pg_catalog.pg_depend x
        where x.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and x.deptype = 'e'
      )) is true,
      f.provolatile = 'v', f.prosecdef, f.provariadic <> 0, f.proretset, f.prorows, f.prorettype::int8,
      f.proargtypes::pg_catalog.oid[]::int8[], f.proargnames, f.proargmodes, f.pronargdefaults
    ) order by f.oid)
    from function f
  ),
  'defaults', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      d.oid::int8, d.position, pg_catalog.pg_get_function_arg_default(d.oid, d.position)
    ))
    from (
      select f.oid, pg_catalog.generate_series(1, coalesce(pg_catalog.cardinality(f.proallargtypes), f.pronargs)) as position
      from function f
      where f.pronargdefaults > 0
    ) d
  )
)::text`;
