/** Thousands of WebSockets at a server in a process of its own: memory, silence, and how long one commit takes to reach the last. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import type { TestDatabase } from '../../test/support/test-databases.ts';
import { secret, signToken } from '../servers/caller.ts';
import { callerOf, itemSelection, pageSelection, quantile } from './items.ts';
import type { ServerReport } from './measured-server.ts';

export interface SocketFigures {
  readonly sockets: number;
  readonly cohorts: number;
  /** Above what the server takes with one subscription, in MB. */
  readonly memory: number;
  readonly silentSeconds: number;
  readonly evaluationsInSilence: number;
  /** From a commit to the last socket, in milliseconds: the median and the most. */
  readonly last: number;
  readonly longestLast: number;
  readonly bytes: number;
  /** Of the server, while it answers. */
  readonly longestBlock: number;
}

/** How many handshakes are under way. */
const abreast = 50;
const apiKey = signToken({ role: 'anon' }, secret);

class Sockets {
  readonly #url: string;
  readonly #all: WebSocket[] = [];
  #left = 0;
  #done: PromiseWithResolvers<void> = Promise.withResolvers();
  /** The length of the last message. */
  bytes = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** Resolves when each socket has had a message. */
  async untilAll(): Promise<void> {
    this.#left = this.#all.length;
    this.#done = Promise.withResolvers();
    const timer = setTimeout(() => this.#done.reject(new Error(`${this.#left} sockets have no answer`)), 60_000);
    await this.#done.promise.finally(() => clearTimeout(timer));
  }

  async open(count: number, tokenOf: (index: number) => string, selection: string): Promise<void> {
    let next = 0;
    const openNext = async (): Promise<void> => {
      while (next < count) await this.#openOne(tokenOf(next++), selection);
    };
    await Promise.all(Array.from({ length: abreast }, openNext));
  }

  async #openOne(token: string, selection: string): Promise<void> {
    const socket = new WebSocket(this.#url, 'graphql-transport-ws', { perMessageDeflate: false });
    this.#all.push(socket);
    const gone = new AbortController();
    const { signal } = gone;
    socket.once('close', (code, reason) => gone.abort(new Error(`closed: ${code} ${reason}`)));
    await once(socket, 'open', { signal });
    socket.send(JSON.stringify({ type: 'connection_init', payload: { apikey: apiKey, authorization: `Bearer ${token}` } }));
    await once(socket, 'message', { signal });
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: `subscription ${selection}` } }));
    const [first] = (await once(socket, 'message', { signal })) as [Buffer];
    if (first.includes('"errors"') || !first.includes('"next"')) throw new Error(first.toString());
    socket.on('message', (data: Buffer) => {
      this.bytes = data.length;
      this.#left -= 1;
      if (this.#left === 0) this.#done.resolve();
    });
  }

  close(): void {
    for (const socket of this.#all) socket.terminate();
  }
}

async function report(server: ChildProcess): Promise<ServerReport> {
  server.send('report');
  return (await once(server, 'message'))[0] as ServerReport;
}

interface SocketJob {
  readonly sockets: number;
  /** One for all sockets, or one for each owner. */
  readonly cohorts: 1 | 1000;
  readonly silentSeconds: number;
  readonly commits: number;
}

/** Answers are of 2 KB if all sockets have the same. */
export async function measureSockets(database: TestDatabase, job: SocketJob): Promise<SocketFigures> {
  const program = fileURLToPath(new URL('measured-server.ts', import.meta.url));
  const server = fork(program, [database.url], { stdio: 'inherit' });
  const end = (): boolean => server.kill('SIGKILL');
  process.once('exit', end);
  const port = (await once(server, 'message'))[0] as number;
  const sockets = new Sockets(`ws://127.0.0.1:${port}/graphql/v1`);
  const isOne = job.cohorts === 1;
  const selection = isOne ? pageSelection : itemSelection;
  const tokens = Array.from({ length: job.cohorts }, (_, owner) => {
    const { role, claims } = callerOf(owner);
    return signToken({ role, sub: String(claims?.['sub']) }, secret);
  });
  const tokenOf = (index: number): string => tokens[index % tokens.length] ?? '';
  try {
    await sockets.open(1, tokenOf, selection);
    await sleep(1000);
    const idle = await report(server);
    await sockets.open(job.sockets - 1, (index) => tokenOf(index + 1), selection);
    // PostgreSQL's statistics tell of the set-up when its sessions have been idle for ten seconds, and everything is evaluated again.
    await sleep(12_000);
    const before = await report(server);
    await sleep(job.silentSeconds * 1000);
    const after = await report(server);
    const lasts: number[] = [];
    for (let n = 0; n < job.commits; n += 1) {
      const all = sockets.untilAll();
      await database.run(isOne ? 'update page set n = n + 1' : 'update item set n = n + 1');
      const committed = performance.now();
      await all;
      lasts.push(performance.now() - committed);
      await sleep(500);
    }
    const { longestBlock } = await report(server);
    return {
      sockets: after.subscriptions,
      cohorts: after.cohorts,
      memory: after.memory - idle.memory,
      silentSeconds: job.silentSeconds,
      evaluationsInSilence: after.evaluations - before.evaluations,
      last: quantile(lasts, 0.5),
      longestLast: Math.max(...lasts),
      bytes: sockets.bytes,
      longestBlock,
    };
  } finally {
    sockets.close();
    process.removeListener('exit', end);
    end();
  }
}
