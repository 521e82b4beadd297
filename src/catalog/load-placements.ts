/**
 * Where the rows of tables are, beside the tables themselves: how Citus distributes them, and which are TimescaleDB's. The catalogs of both are
 * there only with the extension.
 */
import type { RequestDatabase } from '../database/database.ts';
import type { Placement } from './catalog.ts';
import type { RawCatalog, RawTable } from './raw-catalog.ts';

export const citusCatalog = 'pg_catalog.pg_dist_partition';
export const timescaleCatalog = '_timescaledb_catalog.hypertable';

/**
 * `partmethod` is n without a distribution column; then `repmodel` is t for a reference table, and `colocationid` 0 for a table that only
 * the coordinator has.
 */
const placementsQuery = `
  select p.logicalrelid::pg_catalog.oid::int8,
    case when p.partmethod <> 'n' then 'distributed' when p.repmodel = 't' then 'reference'
      when p.colocationid = 0 then 'local' else 'single shard' end,
    case when p.partmethod <> 'n' then pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) end,
    p.colocationid,
    (select pg_catalog.count(*) from pg_catalog.pg_dist_shard s where s.logicalrelid = p.logicalrelid)
  from pg_catalog.pg_dist_partition p`;

/**
 * Functions in SQL whose query PostgreSQL puts into the one that calls them in FROM (manual: Function Optimization Information, in the wiki:
 * Inlining of SQL functions). Citus has decided by then which tables the statement has, so that it reads distributed ones as what they are on
 * the coordinator: empty.
 */
const inlinedQuery = `
  select p.oid::int8
  from pg_catalog.pg_proc p join pg_catalog.pg_language l on l.oid = p.prolang
  where l.lanname = 'sql' and p.prokind = 'f' and p.proretset and p.provolatile <> 'v' and not p.proisstrict and not p.prosecdef
    and p.proconfig is null and exists (
      select 1
      from pg_catalog.pg_dist_partition d join pg_catalog.pg_class c on c.oid = d.logicalrelid
      where p.prosrc ~* pg_catalog.concat('\\m', pg_catalog.regexp_replace(c.relname, '(\\W)', '\\\\\\1', 'g'), '\\M') or exists (
        select 1
        from pg_catalog.pg_depend x
        where x.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and x.objid = p.oid
          and x.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and x.refobjid = c.oid
      )
    )`;

export interface Placements {
  /** By the id of the table. */
  readonly tables: ReadonlyMap<number, Placement>;
  /** Ids of functions that find none of the rows of shards. */
  readonly inlined: ReadonlySet<number>;
}
const noPlacements: Placements = { tables: new Map(), inlined: new Set() };

export function loadPlacements(database: RequestDatabase, { placementCatalogs, tables }: RawCatalog): Promise<Placements> {
  const hasCitus = placementCatalogs.some(({ name }) => name === citusCatalog);
  return hasCitus ? loadCitusPlacements(database, tables) : Promise.resolve(noPlacements);
}

/** The chunks of a hypertable inherit from it, with its constraints and unique indexes, so that these hold for all of its rows. */
const hypertablesQuery = `
  select c.oid::int8
  from ${timescaleCatalog} h
  join pg_catalog.pg_namespace n on n.nspname = h.schema_name
  join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = h.table_name`;

/** The tables, of which hypertables are like any other. */
export async function withHypertables(database: RequestDatabase, { placementCatalogs, tables }: RawCatalog): Promise<readonly RawTable[]> {
  if (!placementCatalogs.some(({ name }) => name === timescaleCatalog)) return tables;
  const rows = await database.query(hypertablesQuery, []);
  const ids = new Set(rows.map(([id]) => Number(id)));
  return tables.map((table) => (ids.has(table.id) ? { ...table, hasChildren: false, keepsNotNull: true } : table));
}

const kinds: readonly Placement['kind'][] = ['distributed', 'reference', 'local', 'single shard'];
const ofView: Placement = { kind: 'view', column: null, group: 0, shards: 0 };

/** Views have a placement if there is any distributed table, since they may show it. */
async function loadCitusPlacements(database: RequestDatabase, tables: readonly Pick<RawTable, 'id' | 'kind'>[]): Promise<Placements> {
  const found = new Map<number, Placement>();
  for (const [id, name, column = null, group, shards] of await database.query(placementsQuery, [])) {
    const kind = kinds.find((each) => each === name);
    if (kind) found.set(Number(id), { kind, column, group: Number(group), shards: Number(shards) });
  }
  if (found.size > 0) for (const { id, kind } of tables) if (kind === 'v') found.set(id, ofView);
  const inlined = await database.query(inlinedQuery, []);
  return { tables: found, inlined: new Set(inlined.map(([id]) => Number(id))) };
}
