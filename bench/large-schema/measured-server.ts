import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from '../load/load.ts';
import { readMemory } from '../measure.ts';
import { describeRows, figure, median } from '../report/table.ts';
import { secret, signToken } from '../servers/caller.ts';
import { ownRoot, type RunningServer, startServer } from '../servers/start-server.ts';

/** A rowgraph server under measurement: how long answers take, how long its event loop is blocked, and how much memory it uses. */

const loadSeconds = 6;
const poolSize = 10;
const askedAtATime = 8;
/** The file to which the server writes the longest turn of its event loop. */
const blocksFile = path.join(tmpdir(), `rowgraph-blocks-${process.pid}`);
const environment = {
  ABUSE_BLOCKS: blocksFile,
  NODE_OPTIONS: `--import=${new URL('../abuse/note-blocks.ts', import.meta.url).href}`,
};

/** A request for a page of five rows of the first table, with these fields. */
export function pageRequest(fields: string): string {
  return JSON.stringify({ query: `{ thing1Collection(first: 5) { edges { node { ${fields} } } } }` });
}

/** The request of the load. */
export const loadRequest = pageRequest('id name size');

function headersOf(role: string): Record<string, string> {
  return { 'content-type': 'application/json', apiKey: signToken({ role }, secret) };
}

export class MeasuredServer {
  readonly #server: RunningServer;
  readonly #figures: Figures;

  private constructor(server: RunningServer, figures: Figures) {
    this.#server = server;
    this.#figures = figures;
  }

  /** Starts a server, measures it, and stops it. */
  static async use(databaseUrl: string, figures: Figures, measure: (server: MeasuredServer) => Promise<void>): Promise<void> {
    const surroundings = { databaseUrl, superuserUrl: databaseUrl, secret, poolSize };
    const server = await startServer('rowgraph', { rowgraph: ownRoot }, surroundings, environment);
    try {
      await measure(new MeasuredServer(server, figures));
    } finally {
      await server.stop();
    }
  }

  /** The answer to a request, which must have no errors. */
  async ask(role: string, body: string): Promise<string> {
    const response = await fetch(this.#server.url, { method: 'POST', headers: headersOf(role), body });
    const text = await response.text();
    if (response.status !== 200 || text.includes('"errors"')) throw new Error(`An answer is wrong: ${text.slice(0, 300)}`);
    return text;
  }

  /** Asks once as each of these roles, a few at a time. */
  async askAll(roles: readonly string[], body: string): Promise<void> {
    const left = roles.values();
    const askLeft = async (): Promise<void> => {
      for (const role of left) await this.ask(role, body);
    };
    await Promise.all(Array.from({ length: askedAtATime }, askLeft));
  }

  /** Asks until the answer has no errors. */
  async untilAnswered(role: string, body: string): Promise<void> {
    for (;;) {
      const answered = await this.ask(role, body).then(
        () => true,
        () => false,
      );
      if (answered) return;
      await sleep(20);
    }
  }

  /** Records the server's memory. */
  noteMemory(name: string): void {
    this.#figures.add(`${name}: memory, MB`, readMemory(this.#server.processId));
  }

  /** Does some work, and records how long it took and the longest block of the server's event loop. */
  async time<T>(name: string, work: () => Promise<T>): Promise<T> {
    await this.#readBlock();
    const start = performance.now();
    const result = await work();
    this.#figures.add(`${name}, ms`, performance.now() - start);
    this.#figures.add(`${name}: longest block of the event loop, ms`, await this.#readBlock());
    return result;
  }

  /** Sends requests for a page for some seconds, as these roles in turn, while something else may happen. */
  async load(name: string, roles: readonly string[], meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const body = loadRequest;
    const expected = await this.ask(roles[0]!, body);
    const requests = roles.map((role) => ({ headers: headersOf(role), body, expected }));
    const load = { url: this.#server.url, requests, masked: false, connections: 4, warmUpSeconds: 0, seconds: loadSeconds };
    const [result] = await Promise.all([runLoad(load), sleep(1000).then(meanwhile)]);
    if (result.wrong > 0) throw new Error(`Under load ${result.wrong} answers are wrong: ${result.complaint}`);
    this.#figures.add(`${name}: p50, ms`, result.p50, 1);
    this.#figures.add(`${name}: p99, ms`, result.p99, 1);
    this.#figures.add(`${name}: requests/s`, result.requests / result.seconds);
  }

  /** In milliseconds, since the last call: the server starts over as soon as it notices the call. */
  async #readBlock(): Promise<number> {
    const longest = existsSync(blocksFile) ? Number(readFileSync(blocksFile, 'utf8')) : 0;
    rmSync(blocksFile, { force: true });
    await sleep(250);
    return longest;
  }
}

/** The measurements of a workload: figures by name, in the order in which they came. */

interface Series {
  readonly digits: number;
  readonly figures: number[];
}

export class Figures {
  readonly #series = new Map<string, Series>();

  /** Adds the figure of a round. */
  add(name: string, figure: number, digits = 0): void {
    const series = this.#series.get(name) ?? { digits, figures: [] };
    series.figures.push(figure);
    this.#series.set(name, series);
  }

  /** A table with a row for each name: the median, minimum and maximum over several rounds. */
  describe(): string {
    const series = [...this.#series];
    if (series.every(([, { figures }]) => figures.length === 1)) {
      const rows = series.map(([name, { digits, figures }]) => [name, figure(figures[0]!, digits)]);
      return describeRows(['what', 'measured'], rows, 1);
    }
    const rows = series.map(([name, { digits, figures }]) => [
      name,
      ...[median(figures), Math.min(...figures), Math.max(...figures)].map((each) => figure(each, digits)),
    ]);
    return describeRows(['what', 'median', 'least', 'most'], rows, 1);
  }
}
