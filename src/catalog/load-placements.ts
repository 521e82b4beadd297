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

/** By the id of the table. */
export type Placements = ReadonlyMap<number, Placement>;
export const noPlacements: Placements = new Map();

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
  return found;
}
