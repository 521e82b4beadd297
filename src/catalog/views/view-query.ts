/**
 * The query for everything that keys and relations of views are inferred from: their definitions, those of the views that they read, and
 * the unique indexes and foreign keys of the underlying tables. Its parameter is a list of view ids as JSON. It runs on PostgreSQL 14 to 18
 * with any search path.
 */
import type { RawForeignKey } from '../raw-rows.ts';

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
    select pg_catalog.json_agg(pg_catalog.json_build_array(c.oid::int8, c.relkind, c.relkind = 'r' and c.relhassubclass, c.relnamespace::int8))
    from pg_catalog.pg_class c where (c.oid in (select s.id from source s)) is true and c.relkind in ('r', 'p', 'v', 'm')
  ),
  -- As in the introspection query, NOT NULL is not reliable if a partition may be a foreign table, or if the constraint is not validated.
  'notNull', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(a.attrelid::int8, a.attnum))
    from pg_catalog.pg_attribute a
    where a.attnotnull and a.attnum > 0 and not a.attisdropped
      and (a.attrelid in (
        select c.oid
        from pg_catalog.pg_class c
        where (c.oid in (select s.id from source s)) is true and (c.relkind = 'r' or c.relkind = 'p' and not (
          select pg_catalog.count(*) > 0 from pg_catalog.pg_inherits i join pg_catalog.pg_class f on f.oid = i.inhrelid where f.relkind = 'f'
        ))
      )) is true
      and ((a.attrelid, a.attnum) in (
        select k.conrelid, k.conkey[1] from pg_catalog.pg_constraint k where k.contype = 'n' and not k.convalidated
      )) is not true
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
  ),
  -- B-tree families in which equal values are the same bytes, unless their collation is nondeterministic (support function equalimage).
  'exactFamilies', (
    select pg_catalog.json_agg(distinct p.amprocfamily::int8)
    from pg_catalog.pg_amproc p
    where p.amprocnum = 4 and (p.amprocfamily in (select f.oid from pg_catalog.pg_opfamily f where f.opfmethod = 403)) is true
  ),
  'looseCollations', (
    select pg_catalog.json_agg(c.oid::int8) from pg_catalog.pg_collation c where not c.collisdeterministic
  )
)::text`;

type RawRows<Row> = readonly Row[] | null;

/** The result of the query: lists of rows, each a tuple whose members are named here. A list is null if it has no rows. */
export interface RawViews {
  readonly relations: RawRows<readonly [id: number, kind: string, hasChildren: boolean, schemaId: number]>;
  /** The views' queries as PostgreSQL stores them. */
  readonly definitions: RawRows<readonly [viewId: number, tree: string]>;
  readonly indexes: RawRows<RawViewIndex>;
  readonly foreignKeys: RawRows<RawForeignKey>;
  /** Columns of tables in which no row has null. */
  readonly notNull: RawRows<readonly [tableId: number, column: number]>;
  readonly families: RawRows<readonly [operatorClass: number, family: number]>;
  readonly equalities: RawRows<readonly [operator: number, family: number]>;
  readonly exactFamilies: RawRows<number>;
  /** Nondeterministic collations. */
  readonly looseCollations: RawRows<number>;
}

export type RawViewIndex = readonly [
  tableId: number,
  primary: boolean,
  keyCount: number,
  columns: readonly number[],
  operatorClasses: readonly number[],
  collations: readonly number[],
];
