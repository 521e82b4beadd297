/**
 * A server in a process of its own, started by `sockets.ts`: sends its port, and then, for each message, what it has used since the last
 * one. Argument: the database's URL.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createNodeHandler } from '../../src/http/transport/create-node-handler.ts';
import { createRowgraph } from '../../src/index.ts';
import { secret } from '../servers/caller.ts';

export interface ServerReport {
  /** Resident, after the garbage is collected, in MB. */
  readonly memory: number;
  readonly evaluations: number;
  readonly subscriptions: number;
  readonly cohorts: number;
  /** The longest turn of the event loop, in milliseconds of CPU time at most. */
  readonly longestBlock: number;
}

const [url = ''] = process.argv.slice(2);
const most = 20_000;
const options = { database: url, live: 'wal', maxSubscriptions: most, limits: { subscriptions: most } } as const;
const graph = await createRowgraph(options);
const handler = createNodeHandler(graph, { jwtSecret: secret });
const server = createServer(handler);
server.on('upgrade', handler.upgrade);
server.listen(0, '127.0.0.1', 8192);
await once(server, 'listening');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const interval = 5;
let longestBlock = 0;
let last = performance.now();
let use = process.threadCpuUsage();
setInterval(() => {
  const now = performance.now();
  const { user, system } = process.threadCpuUsage(use);
  longestBlock = Math.max(longestBlock, Math.min(now - last, (user + system) / 1000));
  last = performance.now();
  use = process.threadCpuUsage();
}, interval);

process.on('message', () => {
  const block = longestBlock;
  collect();
  collect();
  const { evaluations = 0, subscriptions = 0, cohorts = 0 } = graph.readStatistics().live ?? {};
  const report: ServerReport = {
    memory: process.memoryUsage.rss() / 2 ** 20,
    evaluations,
    subscriptions,
    cohorts,
    longestBlock: block,
  };
  process.send?.(report);
  // The collection is the measurement's own.
  setImmediate(() => {
    longestBlock = 0;
    last = performance.now();
    use = process.threadCpuUsage();
  });
});
process.on('disconnect', () => process.exit());
process.send?.((server.address() as AddressInfo).port);
