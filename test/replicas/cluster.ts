/** A primary with standbys, a graph over them, and clients that write and read. */

import type { Event } from '../../src/events.ts';
import { createRowgraph, type Rowgraph, type RowgraphOptions } from '../../src/index.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { ask, startStandby } from '../support/standby.ts';
import { until } from '../support/until.ts';

const tables = `${rolesSql} ${grantsSql}
  create table item (id int primary key, n int not null default 0);
  insert into item select id from generate_series(1, 1000) id;`;

export interface Cluster {
  readonly primary: PostgresServer;
  readonly standbys: readonly PostgresServer[];
  /** Opens a graph; by default over the primary and all standbys, which get queries when this resolves. */
  open(options?: Partial<RowgraphOptions>): Promise<OpenGraph>;
  stop(): Promise<void>;
}

export interface OpenGraph {
  readonly graph: Rowgraph;
  readonly events: readonly Event[];
}

/** The URL of the login role at servers. */
export function urlOf(...servers: readonly PostgresServer[]): string {
  return `postgres://authenticator@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`;
}

/** `delays`: for each standby, how long it waits before it replays a commit. */
export async function startCluster(delays: readonly string[], sql = ''): Promise<Cluster> {
  const primary = await startPostgres({ settings: { synchronous_commit: 'local', wal_keep_size: '256MB' } });
  await ask(primary.url, tables + sql);
  const standbys = await Promise.all(delays.map((delay) => startStandby(primary, { recovery_min_apply_delay: delay })));
  const graphs: Rowgraph[] = [];
  const open: Cluster['open'] = async (options = {}) => {
    const events: Event[] = [];
    const replicaUrl = standbys.map((standby) => urlOf(standby));
    const graph = await createRowgraph({ database: urlOf(primary), replicaUrl, ...options, observe: (event) => events.push(event) });
    graphs.push(graph);
    await until(async () => {
      await readItem(graph, 'nobody', 1);
      return graph.readStatistics().replicas?.every(({ answered }) => answered > 0);
    });
    return { graph, events };
  };
  const stop = async (): Promise<void> => {
    await Promise.all(graphs.map((graph) => graph.close()));
    await Promise.all([primary, ...standbys].map((server) => server.stop()));
  };
  return { primary, standbys, open, stop };
}

const write = 'mutation ($id: Int!, $n: Int!) { updateitemCollection(set: { n: $n }, filter: { id: { eq: $id } }) { affectedCount } }';
const read = 'query ($id: Int!) { itemCollection(filter: { id: { eq: $id } }) { edges { node { n } } } }';

/** Writes a number as a user. Returns the position after it; rejects if it failed. */
export async function writeItem(graph: Rowgraph, sub: string, id: number, n: number): Promise<unknown> {
  const { errors, extensions } = await graph.execute({ query: write, variables: { id, n } }, { role: 'service_role', claims: { sub } });
  if (errors !== undefined) throw new Error(errors[0]!.message);
  return extensions?.position;
}

/** Reads a number as a user. `position`: what it must show. */
export async function readItem(graph: Rowgraph, sub: string, id: number, position?: unknown): Promise<number> {
  const request = { query: read, variables: { id }, extensions: position === undefined ? null : { position } };
  const { data, errors } = await graph.execute(request, { role: 'service_role', claims: { sub } });
  if (errors !== undefined) throw new Error(errors[0]!.message);
  return (data as { itemCollection: { edges: { node: { n: number } }[] } }).itemCollection.edges[0]!.node.n;
}

/** The number that was written last: each is another one. */
let written = 0;

/** How many of so many reads behind a write miss it. `way`: how the read says what it must show. */
export async function countStale(graph: Rowgraph, pairs: number, way: 'subject' | 'position' | 'none'): Promise<number> {
  const last = written + pairs;
  let stale = 0;
  const client = async (name: string): Promise<void> => {
    while (written < last) {
      const n = ++written;
      const id = (n % 1000) + 1;
      const position = await writeItem(graph, name, id, n);
      const shown = await readItem(graph, way === 'subject' ? name : `${name} elsewhere`, id, way === 'position' ? position : undefined);
      if (shown < n) stale += 1;
    }
  };
  await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(client));
  return stale;
}
