/** Change feeds whose changes are recorded, on databases that are set up for a method. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openPgDatabase } from '../../../src/database/pg-database.ts';
import type { Event } from '../../../src/events.ts';
import { applyExtension } from '../../../src/extension/install-extension.ts';
import { installLive, type LiveMethod } from '../../../src/extension/install-live.ts';
import type { Change, ChangeFeed, LiveMode } from '../../../src/live/changes/change-feed.ts';
import { openChangeFeed } from '../../../src/live/changes/open-change-feed.ts';
import type { TestDatabase } from '../../support/test-databases.ts';
import { until } from '../../support/until.ts';

/** Every change ends with one of this table, which tells when those before it have come. */
export const fenceSql = 'create table fence (id int primary key generated always as identity);';

export interface RecordedFeed {
  readonly feed: ChangeFeed;
  readonly modes: readonly string[];
  readonly reasons: readonly string[];
  /** Runs statements; resolves to the names of the tables that were announced, sorted, or to `everything`. */
  after(sql: string): Promise<readonly string[] | 'everything'>;
  untilMode(mode: LiveMode): Promise<void>;
  readonly changes: readonly Change[];
}

/** Sets up the method in a database, as its superuser. */
export async function setUp(database: Pick<TestDatabase, 'url'>, method: LiveMethod): Promise<void> {
  const admin = openPgDatabase(superuserUrl(database), { poolSize: 1 });
  try {
    await applyExtension(admin);
    assert.deepEqual((await installLive(admin, method)).uncovered, []);
  } finally {
    await admin.close();
  }
}

export function superuserUrl({ url }: Pick<TestDatabase, 'url'>): string {
  return url.replace('authenticator@', 'postgres@');
}

interface FeedOptions {
  readonly mode?: LiveMode | 'auto';
  readonly url?: string;
  readonly liveUrl?: string;
  /** Called with each change, when it comes. */
  readonly onChange?: (change: Change) => void;
}

/** A feed over connections of its own; closed with the test. */
export async function openFeed(context: TestContext, database: TestDatabase, options: FeedOptions = {}): Promise<RecordedFeed> {
  const opened = openPgDatabase(options.url ?? database.url, { poolSize: 2 });
  const changes: Change[] = [];
  const [modes, reasons]: [string[], string[]] = [[], []];
  const observe = (event: Event): void => {
    if (event.kind !== 'live-mode') return;
    modes.push(event.mode);
    reasons.push(event.reason);
  };
  const note = async (change: Change): Promise<boolean> => {
    changes.push(change);
    options.onChange?.(change);
    return true;
  };
  const feed = await openChangeFeed(opened, { mode: options.mode ?? 'auto', url: options.liveUrl, observe }, note);
  context.after(async () => {
    await feed.close();
    await opened.close();
  });
  const idOf = async (name: string): Promise<number> => Number((await database.run(`select '${name}'::regclass::oid::int8 as id`))[0]?.id);
  const fence = await idOf('fence');
  const recorded: RecordedFeed = {
    feed,
    modes,
    reasons,
    changes,
    after: async (sql) => {
      const before = changes.length;
      await database.run(sql);
      await database.run('insert into fence default values');
      const isFence = (change: Change): boolean =>
        change.kind !== 'uncovered' && (change.kind === 'everything' || change.tables.has(fence));
      await until(() => changes.slice(before).some(isFence));
      const since = changes.slice(before);
      if (since.some(({ kind }) => kind === 'everything')) return 'everything';
      const ids = since.flatMap((change) => (change.kind === 'tables' ? [...change.tables] : []));
      const names = await database.run(
        `select relname from pg_class where oid = any ('{${ids.join()}}') and relname <> 'fence' order by 1`,
      );
      return names.map(({ relname }) => String(relname));
    },
    untilMode: (mode) => until(() => feed.status.mode === mode),
  };
  return recorded;
}
