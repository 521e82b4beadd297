/**
 * `npm run bench:large`: rowgraph over a schema of 2,000 tables, opened to three roles: the first answer after the start, memory, a reload
 * under load, full introspection. Prints what it measures and writes large-schema.md.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getIntrospectionQuery } from 'graphql';
import { Client } from 'pg';
import { startPostgres } from '../test/support/postgres.ts';
import { runLoad } from './load/run-load.ts';
import { readMemory } from './measure/process-usage.ts';
import { median } from './measure/summarize-slices.ts';
import { describeRows, figure } from './report/describe-table.ts';
import { readCommit } from './report/write-report.ts';
import { buildPackage, ownRoot } from './servers/build-package.ts';
import { type RunningServer, startServer } from './servers/start-server.ts';
import { secret, signToken } from './servers/tokens.ts';

const roles = ['anon', 'authenticated', 'service_role'];
const rounds = 3;
const loadSeconds = 6;
/** Where the server writes its longest turn of the event loop. */
const blocksFile = path.join(tmpdir(), `rowgraph-blocks-${process.pid}`);
const notesBlocks = {
  ABUSE_BLOCKS: blocksFile,
  NODE_OPTIONS: `--import=${new URL('abuse/note-blocks.ts', import.meta.url).href}`,
};
const request = (text: string) => JSON.stringify({ query: `{ thing1Collection(first: 5) { edges { node { ${text} } } } }` });
const headersOf = (role: string) => ({ 'content-type': 'application/json', apiKey: signToken({ role }, secret) });

/** What is measured, by name, in the order of the report: a figure of each round. */
class Figures {
  readonly #figures = new Map<string, number[]>();

  add(name: string, figure: number): void {
    const others = this.#figures.get(name);
    if (others) others.push(figure);
    else this.#figures.set(name, [figure]);
  }

  describe(): string {
    const rows = [...this.#figures].map(([name, figures]) => [
      name,
      figure(median(figures), 0),
      figure(Math.min(...figures), 0),
      figure(Math.max(...figures), 0),
    ]);
    return describeRows(['what', 'median', 'least', 'most'], rows, 1);
  }
}

class Measurement {
  readonly #server: RunningServer;
  readonly #figures: Figures;

  constructor(server: RunningServer, figures: Figures) {
    this.#server = server;
    this.#figures = figures;
  }

  async ask(role: string, body: string): Promise<string> {
    const response = await fetch(this.#server.url, { method: 'POST', headers: headersOf(role), body });
    const text = await response.text();
    if (response.status !== 200 || text.includes('"errors"')) throw new Error(`An answer is wrong: ${text.slice(0, 300)}`);
    return text;
  }

  memory(name: string): void {
    this.#figures.add(`${name}: memory, MB`, readMemory(this.#server.processId));
  }

  /** Runs something and notes how long it took and how long it blocked the event loop at most. */
  async time<T>(name: string, run: () => Promise<T>): Promise<T> {
    await this.#readBlock();
    const start = performance.now();
    const result = await run();
    this.#figures.add(`${name}, ms`, performance.now() - start);
    this.#figures.add(`${name}: longest block of the event loop, ms`, await this.#readBlock());
    return result;
  }

  /** In milliseconds, since it was last read: reading begins anew, as soon as the server notices. */
  async #readBlock(): Promise<number> {
    const longest = existsSync(blocksFile) ? Number(readFileSync(blocksFile, 'utf8')) : 0;
    rmSync(blocksFile, { force: true });
    await sleep(250);
    return longest;
  }

  /** Point requests for some seconds, while something else may happen. */
  async load(name: string, meanwhile: () => Promise<void>): Promise<void> {
    const body = request('id name size');
    const expected = await this.ask('anon', body);
    const job = { url: this.#server.url, requests: [{ headers: headersOf('anon'), body, expected }], masked: false, connections: 4 };
    const [result] = await Promise.all([runLoad({ ...job, seconds: loadSeconds }), sleep(1000).then(meanwhile)]);
    if (result.wrong > 0) throw new Error(`Under load ${result.wrong} answers are wrong: ${result.complaint}`);
    this.#figures.add(`${name}: p99, ms`, result.p99);
    this.#figures.add(`${name}: requests/s`, result.requests / result.seconds);
  }

  /** Asks until the column is there. */
  async untilKnown(column: string): Promise<void> {
    for (;;) {
      const answered = await this.ask('anon', request(column)).then(
        () => true,
        () => false,
      );
      if (answered) return;
      await sleep(20);
    }
  }
}

async function measureRound(round: number, databaseUrl: string, client: Client, figures: Figures): Promise<void> {
  const start = performance.now();
  const surroundings = { databaseUrl, superuserUrl: databaseUrl, secret, poolSize: 10 };
  const server = await startServer('rowgraph', { rowgraph: ownRoot }, surroundings, { environment: notesBlocks });
  try {
    const measurement = new Measurement(server, figures);
    await measurement.ask('anon', request('id'));
    figures.add('start of the process to the first answer, ms', performance.now() - start);
    measurement.memory('one role');
    for (const role of roles.slice(1)) await measurement.time('first answer to a further role', () => measurement.ask(role, request('id')));
    measurement.memory('three roles');
    await measurement.load('load', () => Promise.resolve());
    const change = `alter table thing_1 add column added_${round} int`;
    await measurement.load('load with a reload', async () => {
      await client.query(change);
      await measurement.time('commit of DDL to an answer that knows of it', () => measurement.untilKnown(`added${round}`));
    });
    measurement.memory('three roles, after the reload');
    const introspection = JSON.stringify({ query: getIntrospectionQuery() });
    const text = await measurement.time('full introspection, first', () => measurement.ask('anon', introspection));
    await measurement.time('full introspection, again', () => measurement.ask('anon', introspection));
    figures.add('full introspection: size, MB', Buffer.byteLength(text) / 1e6);
    measurement.memory('after introspection');
  } finally {
    await server.stop();
  }
}

buildPackage(ownRoot);
// Each table of a transaction takes locks.
const postgres = await startPostgres({ onDisk: true, settings: { max_locks_per_transaction: '1000' } });
process.once('SIGINT', () => process.exit(1));
const client = new Client({ connectionString: postgres.url });
try {
  await client.connect();
  await client.query('set client_min_messages = warning');
  await client.query(await readFile(new URL('large-schema/schema.sql', import.meta.url), 'utf8'));
  const figures = new Figures();
  for (let round = 1; round <= rounds; round++)
    await measureRound(round, postgres.url.replace('postgres@', 'authenticator@'), client, figures);
  const table = figures.describe();
  console.log(table);
  const page = `# Results of \`npm run bench:large\`

This page is written by the benchmark. It ran on ${new Date().toISOString().slice(0, 10)}: rowgraph at ${readCommit()}, Node ${process.versions.node}, without event triggers,
${rounds} rounds, each a new process. The schema has 2,000 tables of 12 columns and 2 foreign keys each; three roles may use all of it.
Load is 4 connections that ask for a page of 5 rows, each as soon as its answer is in. A block of the event loop is the time between
two looks at it (\`bench/abuse/note-blocks.ts\`), of which up to 5 ms are the measure's own. Everything runs on one machine of ${availableParallelism()} cores.

${table}
`;
  await writeFile(new URL('large-schema.md', import.meta.url), page);
} finally {
  await client.end();
  await postgres.stop();
}
