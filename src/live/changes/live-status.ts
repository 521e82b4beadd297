/** How changes are noticed in a database with the present login, and what is set up for it: for operators. */
import { openDatabase } from '../../database/open-database.ts';
import { followsDdl, type LiveMethod } from '../../extension/install-live.ts';
import type { FeedStatus, LiveMode } from './change-feed.ts';
import { readCoverage } from './coverage.ts';
import { openChangeFeed } from './open-change-feed.ts';

export interface LiveStatus extends FeedStatus {
  /** What is set up, best first. */
  readonly methods: readonly LiveMethod[];
  readonly covered: number;
  /** Names of tables whose changes are not announced, so that they are polled. */
  readonly uncovered: readonly string[];
  /** Whether tables that are created later are covered, too. */
  readonly followsDdl: boolean;
}

const tablesText = `select c.oid::text, c.oid::pg_catalog.regclass::pg_catalog.text
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid >= 16384 and c.relkind in ('r', 'p', 'm', 'f') and c.relpersistence <> 't'
    and n.nspname not in ('information_schema', 'rowgraph') and n.nspname !~ '^pg_' order by 2`;

/** Opens a feed as a server does, and closes it. `url` is that of `--live-database-url`. Rejects with `DatabaseError`. */
export async function readLiveStatus(databaseUrl: string, url: string | undefined, mode: LiveMode | 'auto'): Promise<LiveStatus> {
  const database = openDatabase(databaseUrl, { poolSize: 1, observe: () => undefined });
  try {
    const { methods } = await readCoverage((text) => database.query(text, []));
    const feed = await openChangeFeed(database, { mode, url, observe: () => undefined }, async () => false);
    try {
      const tables = await database.query(tablesText, []);
      const isCovered = ([id]: readonly (string | null)[]): boolean => feed.covers(Number(id));
      const uncovered = tables.filter((table) => !isCovered(table)).map(([, name]) => name ?? '');
      return { ...feed.status, methods, covered: tables.length - uncovered.length, uncovered, followsDdl: await followsDdl(database) };
    } finally {
      await feed.close();
    }
  } finally {
    await database.close();
  }
}
