/** A process with a feed, to be killed: prints its status, and the tables that have changed, one line each. Argument: the database's URL. */
import { openPgDatabase } from '../../../src/database/pg-database.ts';
import { openChangeFeed } from '../../../src/live/changes/open-change-feed.ts';

const [url = ''] = process.argv.slice(2);
const database = openPgDatabase(url, { poolSize: 1 });
const feed = await openChangeFeed(database, { mode: 'auto', observe: () => undefined }, async (change) => {
  process.stdout.write(`${change.kind} ${change.kind === 'tables' ? [...change.tables].join() : ''}\n`);
  return true;
});
process.stdout.write(`${feed.status.part} ${feed.status.mode}\n`);
// Until it is killed.
setInterval(() => undefined, 1000);
