/**
 * The query for everything that keys and relations of views are inferred from: their definitions, those of the views that they read, and
 * the unique indexes and foreign keys of the underlying tables. Its parameter is a list of view ids as JSON. It runs on PostgreSQL 14 to 18
 * with any search path.
 */

/** Views with larger definitions, in bytes, are not analyzed. */
const maxDefinitionBytes = 4_000_000;

/**
 * Selects the ids of everything that views read, directly or through other views. `views` selects the ids of the views. Leaves out
 * PostgreSQL's own objects, which have lower ids and are irrelevant. Indexes of both catalogs find the rows.
 */
export function sourcesOfViews(views: string): string {
  return `
  with recursive source(id) as (
    ${views}
    union
    select d.refobjid
    from source s
    join pg_catalog.pg_rewrite w on w.ev_class = s.id and w.ev_type = '1'
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid >= 16384
  )
  select s.id from source s`;
}

/** Rows are JSON arrays, as in the introspection query. */
export const viewQuery = `
with source as materialized (
  ${sourcesOfViews('select v.id::pg_catalog.oid from pg_catalog.json_array_elements_text($1::json) v(id)')}
)
select pg_catalog.json_build_object(
  'relations', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(c.oid::int8, c.relkind, c.relkind = 'r' and c.relhassubclass))
    from pg_catalog.pg_class c where (c.oid in (select s.id from source s)) is true and c.relkind in ('r', 'p', 'v', 'm')
  ),
  'definitions', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(w.ev_class::int8, w.ev_action::text))
    from pg_catalog.pg_rewrite w
    where w.ev_type = '1' and (w.ev_class in (select s.id from source s)) is true
      and pg_catalog.octet_length(w.ev_action::text) <= ${maxDefinitionBytes}
  ),
  'indexes', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      i.indrelid::int8, i.indisprimary, i.indnkeyatts, i.indkey::pg_catalog.int2[], i.indclass::pg_catalog.oid[]::int8[],
      i.indcollation::pg_catalog.oid[]::int8[]
    ) order by i.indexrelid)
    from pg_catalog.pg_index i
    where (i.indrelid in (select s.id from source s)) is true and i.indisunique and i.indimmediate and i.indisvalid
      and i.indpred is null and i.indexprs is null
  ),
  'foreignKeys', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      k.oid::int8, k.conname, k.conrelid::int8, k.conkey, k.confrelid::int8, k.confkey, k.convalidated, k.conparentid::int8
    ) order by k.oid)
    from pg_catalog.pg_constraint k
    where k.contype = 'f' and (k.conrelid in (select s.id from source s)) is true
      -- Temporal keys (PERIOD) are not relations.
      and (select c.relam from pg_catalog.pg_class c where c.oid = k.conindid) = 403
  ),
  -- For B-trees: the family of each operator class, and the equality operator of each family.
  'families', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(o.oid::int8, o.opcfamily::int8)) from pg_catalog.pg_opclass o where o.opcmethod = 403
  ),
  'equalities', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(a.amopopr::int8, a.amopfamily::int8))
    from pg_catalog.pg_amop a where a.amopmethod = 403 and a.amopstrategy = 3
  )
)::text`;
