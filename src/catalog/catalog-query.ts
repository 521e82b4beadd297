/**
 * The one introspection query: all that `load-catalog.ts` needs of the system catalogs, as one row with one column of JSON text.
 * Its parameter is the list of exposed schemas as JSON. It runs on PostgreSQL 14 to 18 and depends on no search path.
 */

/**
 * Rows come as JSON arrays, which is half the bytes of objects; `load-catalog.ts` names their members in the same order.
 * Joins and not correlated subqueries throughout: it has to be fast for thousands of tables.
 */
export const catalogQuery = `
with exposed as materialized (
  select n.oid, n.nspname, min(s.position) as position
  from pg_catalog.json_array_elements_text($1::json) with ordinality as s(name, position)
  join pg_catalog.pg_namespace n on n.nspname = s.name
  group by n.oid, n.nspname
),
directive as materialized (
  select d.classoid, d.objoid, d.objsubid, d.description
  from pg_catalog.pg_description d
  where pg_catalog.strpos(d.description, '@graphql(') > 0
),
relation as materialized (
  select c.oid, c.relname, c.relnamespace, c.relkind, c.reltype, c.relrowsecurity, c.reloptions
  from pg_catalog.pg_class c
  join exposed e on e.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relpersistence <> 't'
),
own_sequence as materialized (
  select d.refobjid as relation, d.refobjsubid as number
  from pg_catalog.pg_class s
  join pg_catalog.pg_depend d on d.objid = s.oid and d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
  where s.relkind = 'S' and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjsubid > 0 and d.deptype in ('a', 'i')
),
unproven_not_null as materialized (
  select k.conrelid as relation, k.conkey[1] as number
  from pg_catalog.pg_constraint k
  where k.contype = 'n' and not k.convalidated
),
attribute as materialized (
  select a.attrelid, a.attnum, a.attname, a.atttypid,
    case when a.atttypid in (1042, 1043) and a.atttypmod > 4 then a.atttypmod - 4 end as max_length,
    case
      when a.atttypmod < 0 then null
      -- Built in, and so in pg_catalog.
      when a.atttypid < 16384 then pg_catalog.format_type(a.atttypid, a.atttypmod)
      else (
        select pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(b.typname)
          || pg_catalog.substr(
            pg_catalog.format_type(a.atttypid, a.atttypmod), pg_catalog.length(pg_catalog.format_type(b.oid, -1)) + 1
          )
        from pg_catalog.pg_type t
        join pg_catalog.pg_type b on b.oid = case when t.typcategory = 'A' and t.typelem <> 0 then t.typelem else t.oid end
        join pg_catalog.pg_namespace n on n.oid = b.typnamespace
        where t.oid = a.atttypid
      )
    end as modified_type,
    a.attnotnull and u.number is null as not_null,
    a.attgenerated <> '' or a.attidentity <> '' or s.number is not null as automatic,
    d.description
  from relation r
  join pg_catalog.pg_attribute a on a.attrelid = r.oid
  left join own_sequence s on s.relation = a.attrelid and s.number = a.attnum
  left join unproven_not_null u on u.relation = a.attrelid and u.number = a.attnum
  left join directive d
    on d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objoid = a.attrelid and d.objsubid = a.attnum
  where a.attnum > 0 and not a.attisdropped
),
function as materialized (
  select p.*, n.nspname
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.pronamespace in (select e.oid from exposed e)
    or (p.pronargs = 1 and p.proargtypes[0] in (select r.reltype from relation r where r.reltype <> 0))
),
used_type as materialized (
  select a.atttypid as id from attribute a
  union select f.prorettype from function f
  union select pg_catalog.unnest(f.proargtypes::pg_catalog.oid[]) from function f
),
type as materialized (
  select t.oid, t.typnamespace, n.nspname, t.typname, t.typtype, t.typcategory, t.typrelid,
    case when t.typcategory = 'A' then t.typelem else 0 end as typelem,
    t.typtype = 'e' and t.typnamespace in (select e.oid from exposed e) as is_exposed_enum
  from pg_catalog.pg_type t
  join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  where t.oid in (select u.id from used_type u)
    or t.oid in (select x.typelem from pg_catalog.pg_type x join used_type u on u.id = x.oid where x.typcategory = 'A')
    or (t.typtype = 'e' and t.typnamespace in (select e.oid from exposed e))
)
select pg_catalog.json_build_object(
  'schemas', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(e.oid::int8, e.nspname, d.description) order by e.position)
    from exposed e
    left join directive d on d.classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass and d.objoid = e.oid
  ),
  'tables', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      r.oid::int8, r.relnamespace::int8, r.relname, r.relkind, r.reltype::int8, r.relrowsecurity,
      case when r.relkind = 'v' then (
        select o.option_value::bool from pg_catalog.pg_options_to_table(r.reloptions) o where o.option_name = 'security_invoker'
      ) end,
      case
        when r.relkind in ('r', 'p') then 28
        when r.relkind = 'v' then pg_catalog.pg_relation_is_updatable(r.oid, true)
        -- A wrapper without a handler makes the function fail.
        when r.relkind = 'f' and w.fdwhandler <> 0 then pg_catalog.pg_relation_is_updatable(r.oid, true)
        else 0
      end,
      d.description
    ) order by r.oid)
    from relation r
    left join pg_catalog.pg_foreign_table f on f.ftrelid = r.oid
    left join pg_catalog.pg_foreign_server v on v.oid = f.ftserver
    left join pg_catalog.pg_foreign_data_wrapper w on w.oid = v.srvfdw
    left join directive d on d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objoid = r.oid and d.objsubid = 0
  ),
  'columns', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      a.attrelid::int8, a.attnum, a.attname, a.atttypid::int8, a.max_length, a.modified_type, a.not_null, a.automatic, a.description
    ) order by a.attrelid, a.attnum)
    from attribute a
  ),
  'indexes', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      i.indrelid::int8, i.indisprimary, i.indisunique and i.indexprs is null, i.indnkeyatts, i.indkey::pg_catalog.int2[]
    ) order by i.indexrelid)
    from relation r
    join pg_catalog.pg_index i on i.indrelid = r.oid
    where i.indisvalid and i.indpred is null
  ),
  'foreignKeys', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      k.oid::int8, k.conname, k.conrelid::int8, k.conkey, k.confrelid::int8, k.confkey, n.nspname || '.' || c.relname, k.convalidated, d.description
    ) order by k.oid)
    from pg_catalog.pg_constraint k
    join relation r on r.oid = k.conrelid
    join pg_catalog.pg_class c on c.oid = k.confrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_constraint parent on parent.oid = k.conparentid
    left join directive d on d.classoid = 'pg_catalog.pg_constraint'::pg_catalog.regclass and d.objoid = k.oid
    -- A key to a partitioned table has a copy for each partition, which says nothing of its own.
    where k.contype = 'f' and (parent.oid is null or parent.conrelid <> k.conrelid)
  ),
  'types', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      t.oid::int8, t.typnamespace::int8, t.nspname, t.typname, t.typtype, t.typcategory, t.typelem::int8, t.typrelid::int8,
      -- What is in pg_catalog is always in the search path.
      case
        when t.nspname = 'pg_catalog' then pg_catalog.format_type(t.oid, -1)
        when t.typcategory = 'A' and t.typelem <> 0 then pg_catalog.quote_ident(t.nspname) || '.' || pg_catalog.quote_ident(element.typname) || '[]'
        else pg_catalog.quote_ident(t.nspname) || '.' || pg_catalog.quote_ident(t.typname)
      end,
      l.labels, d.description
    ) order by t.oid)
    from type t
    left join pg_catalog.pg_type element on element.oid = t.typelem
    left join (
      select v.enumtypid, pg_catalog.json_agg(v.enumlabel order by v.enumsortorder) as labels
      from pg_catalog.pg_enum v
      group by v.enumtypid
    ) l on l.enumtypid = t.oid and t.is_exposed_enum
    left join directive d on d.classoid = 'pg_catalog.pg_type'::pg_catalog.regclass and d.objoid = t.oid and t.is_exposed_enum
  ),
  'functions', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      f.oid::int8, f.pronamespace::int8, f.nspname, f.proname, f.prokind, x.objid is not null, f.provolatile = 'v', f.prosecdef, f.provariadic <> 0,
      f.proretset, f.prorows, f.prorettype::int8,
      f.proargtypes::pg_catalog.oid[]::int8[], f.proargnames, f.proargmodes, f.pronargdefaults,
      case when f.pronargdefaults > 0 then (
        select pg_catalog.json_agg(pg_catalog.pg_get_function_arg_default(f.oid, g) order by g)
        from pg_catalog.generate_series(1, coalesce(pg_catalog.cardinality(f.proallargtypes), f.pronargs)) g
      ) end,
      d.description
    ) order by f.oid)
    from function f
    left join pg_catalog.pg_depend x
      on x.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and x.objid = f.oid and x.deptype = 'e'
    left join directive d on d.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objoid = f.oid
  )
)::text`;
