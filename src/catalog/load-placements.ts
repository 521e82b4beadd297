/** How Citus distributes tables: its catalog `pg_dist_partition`, which there is only with the extension. */
import type { RequestDatabase } from '../database/database.ts';
import type { Placement } from './catalog.ts';
import type { RawTable } from './raw-catalog.ts';

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
export const noPlacements: Placements = { tables: new Map(), inlined: new Set() };

const kinds: readonly Placement['kind'][] = ['distributed', 'reference', 'local', 'single shard'];
const ofView: Placement = { kind: 'view', column: null, group: 0, shards: 0 };

/** The placements of tables. Views have one if there is any distributed table, since they may show it. */
export async function loadPlacements(database: RequestDatabase, tables: readonly Pick<RawTable, 'id' | 'kind'>[]): Promise<Placements> {
  const found = new Map<number, Placement>();
  for (const [id, name, column = null, group, shards] of await database.query(placementsQuery, [])) {
    const kind = kinds.find((each) => each === name);
    if (kind) found.set(Number(id), { kind, column, group: Number(group), shards: Number(shards) });
  }
  if (found.size > 0) for (const { id, kind } of tables) if (kind === 'v') found.set(id, ofView);
  const inlined = await database.query(inlinedQuery, []);
  return { tables: found, inlined: new Set(inlined.map(([id]) => Number(id))) };
}
