/**
 * From a commit to the answers, for subscriptions in this process, and whether an answer ever has a row of another caller. A commit is when
 * the writer's connection says so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import type { TestDatabase } from '../../test/support/test-databases.ts';
import { callerOf, itemSelection, quantile } from './items.ts';
import { superuserUrl } from './start-server.ts';

export interface Latency {
  readonly cohorts: number;
  readonly commits: number;
  /** In milliseconds, over all answers. */
  readonly p50: number;
  readonly p99: number;
  /** To the last answer of each commit: the median. */
  readonly last: number;
  readonly evaluations: number;
  readonly answers: number;
  /** Rows of another caller. */
  readonly foreign: number;
}

/** Subscriptions of different owners, of which each commit changes all. */
class Watchers {
  readonly #graph: Rowgraph;
  readonly #count: number;
  #n = -1;
  #waiting = new Set<number>();
  #all: PromiseWithResolvers<void> = Promise.withResolvers();
  #times: number[] = [];
  answers = 0;
  foreign = 0;

  constructor(graph: Rowgraph, count: number) {
    this.#graph = graph;
    this.#count = count;
  }

  async start(): Promise<void> {
    const all = this.expect(0);
    for (let owner = 0; owner < this.#count; owner += 1) void this.#follow(owner);
    await all;
  }

  /** Resolves to when each subscription had its first answer with this number, or a later one, in every row. */
  async expect(n: number): Promise<readonly number[]> {
    this.#n = n;
    this.#times = [];
    this.#waiting = new Set(Array.from({ length: this.#count }, (_, owner) => owner));
    this.#all = Promise.withResolvers();
    const timer = setTimeout(() => this.#all.reject(new Error(`${this.#waiting.size} answers are missing`)), 60_000);
    await this.#all.promise.finally(() => clearTimeout(timer));
    return this.#times;
  }

  async #follow(owner: number): Promise<void> {
    const caller = callerOf(owner);
    const request = { query: `subscription ${itemSelection}` };
    for await (const { data, errors } of this.#graph.subscribe(request, caller, { client: `owner ${owner}` })) {
      if (errors !== undefined) this.#all.reject(new Error(JSON.stringify(errors)));
      const { edges } = (data?.['itemCollection'] ?? { edges: [] }) as { edges: { node: { owner: string; n: string } }[] };
      this.answers += 1;
      this.foreign += edges.filter(({ node }) => node.owner !== `owner ${owner}`).length;
      if (edges.length === 0 || edges.some(({ node }) => Number(node.n) < this.#n) || !this.#waiting.delete(owner)) continue;
      this.#times.push(performance.now());
      if (this.#waiting.size === 0) this.#all.resolve();
    }
  }
}

/** `pause`: how long to rest between the last answer and the next commit, in milliseconds. */
export async function measureLatency(database: TestDatabase, cohorts: number, commits: number, pause: number): Promise<Latency> {
  const graph = await createRowgraph({ database: database.url, live: 'wal' });
  const writer = new Client(superuserUrl(database));
  await writer.connect();
  try {
    await writer.query('update item set n = 0');
    const watchers = new Watchers(graph, cohorts);
    await watchers.start();
    await sleep(500);
    const before = graph.readStatistics().live?.evaluations ?? 0;
    const latencies: number[] = [];
    const lasts: number[] = [];
    for (let n = 1; n <= commits; n += 1) {
      const answered = watchers.expect(n);
      await writer.query(cohorts === 1 ? `update item set n = ${n} where owner = 'owner 0'` : `update item set n = ${n}`);
      const committed = performance.now();
      const times = (await answered).map((time) => Math.max(0, time - committed));
      latencies.push(...times);
      lasts.push(Math.max(...times));
      // Not in step with anything.
      await sleep(pause * (0.5 + ((n * 0.618) % 1)));
      if (cohorts >= 100 && n % 20 === 0) await writer.query('vacuum item');
    }
    const { answers, foreign } = watchers;
    const evaluations = (graph.readStatistics().live?.evaluations ?? 0) - before;
    const figures = { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), last: quantile(lasts, 0.5) };
    return { cohorts, commits, ...figures, evaluations, answers, foreign };
  } finally {
    await writer.end();
    await graph.close();
  }
}

/** How long the same rows take `count` callers that ask PostgreSQL itself, on so many connections: the median of some rounds, in milliseconds. */
export async function measureBare(database: TestDatabase, count: number, connections: number): Promise<number> {
  const clients = Array.from({ length: connections }, () => new Client(database.url));
  await Promise.all(clients.map((client) => client.connect()));
  const statement = `select coalesce(json_agg(json_build_object('id', id, 'owner', owner, 'n', n, 'body', body)), '[]') from item`;
  const ask = async (client: Client, owner: number): Promise<void> => {
    const { role, claims } = callerOf(owner);
    await client.query('begin read only');
    const set = "select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)";
    await client.query({ name: 'set', text: set, values: [role, JSON.stringify(claims)] });
    await client.query({ name: `ask ${role}`, text: statement });
    await client.query('commit');
  };
  const rounds: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const began = performance.now();
    await Promise.all(
      clients.map(async (client, first) => {
        for (let owner = first; owner < count; owner += connections) await ask(client, owner);
      }),
    );
    rounds.push(performance.now() - began);
  }
  await Promise.all(clients.map((client) => client.end()));
  return quantile(rounds, 0.5);
}
