/** A process with a feed, to be killed: prints its status whenever it changes, and what has changed. Argument: the database's URL. */

import { openPgDatabase } from '../../../src/database/pg-database.ts';
import type { Event } from '../../../src/events.ts';
import { openChangeFeed } from '../../../src/live/changes/open-change-feed.ts';

const [url = ''] = process.argv.slice(2);
const database = openPgDatabase(url, { poolSize: 1 });
const observe = (event: Event): void => {
  if (event.kind === 'live-mode') process.stdout.write(`${event.part} ${event.mode}\n`);
};
await openChangeFeed(database, { mode: 'auto', observe }, async (change) => {
  process.stdout.write(`${change.kind} ${change.kind === 'tables' ? [...change.tables].join() : ''}\n`);
  return true;
});
// Until it is killed.
setInterval(() => undefined, 1000);
