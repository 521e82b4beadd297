/**
 * The load generator: a process of its own that keeps a number of connections to each server busy, sends each one's next request as soon as
 * its answer is in, and checks every answer. The servers are under load one at a time, in turns. In: a load, as a message of the parent
 * process; out: a message when it is warm, upon which the parent answers, and the results of the jobs. Uses plain sockets, to leave the CPU
 * to the servers.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, type JobResult, type Load, maskDigits, type Report } from './job.ts';
import { type Response, ResponseReader } from './response-reader.ts';

interface EncodedRequest {
  readonly bytes: Buffer;
  readonly answer: Buffer;
}

interface Connection {
  readonly socket: Socket;
  /** Sends the next request. */
  send(): void;
}

/** A job while it runs. */
class Run {
  readonly #job: Job;
  readonly #requests: readonly EncodedRequest[];
  readonly #connections = new Set<Connection>();
  readonly #latencies: number[] = [];
  #next = 0;
  #seconds = 0;
  #wrong = 0;
  #complaint: string | null = null;
  #isLoading = false;
  /** How many connections wait for an answer. */
  #waiting = 0;
  #onQuiet: (() => void) | null = null;

  constructor(job: Job) {
    this.#job = job;
    const { pathname, host } = new URL(job.url);
    this.#requests = job.requests.map(({ headers, body, expected }) => {
      const all = { host, 'content-type': 'application/json', ...headers, 'content-length': Buffer.byteLength(body) };
      const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      const answer = job.masked ? maskDigits(expected) : expected;
      return { bytes: Buffer.from(`POST ${pathname} HTTP/1.1\r\n${head.join('')}\r\n${body}`), answer: Buffer.from(answer) };
    });
  }

  /** Opens the connections. */
  async open(): Promise<void> {
    const { hostname, port } = new URL(this.#job.url);
    const sockets = Array.from({ length: this.#job.connections }, () => connect({ host: hostname, port: Number(port), noDelay: true }));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) this.#addConnection(socket);
  }

  /** Keeps the connections busy, and waits for their last answers. */
  async load(seconds: number): Promise<void> {
    if (this.#connections.size === 0) return;
    const began = performance.now();
    this.#isLoading = true;
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    for (const { send } of this.#connections) send();
    await sleep(seconds * 1000);
    this.#isLoading = false;
    if (this.#waiting > 0) await quiet;
    this.#seconds += (performance.now() - began) / 1000;
  }

  /** Forgets what was measured, except for wrong answers. */
  reset(): void {
    this.#latencies.length = 0;
    this.#seconds = 0;
  }

  end(): JobResult {
    for (const connection of this.#connections) {
      this.#connections.delete(connection);
      connection.socket.end();
    }
    const latencies = this.#latencies.toSorted((one, other) => one - other);
    const quantile = (part: number): number => latencies[Math.floor(part * latencies.length)] ?? Number.NaN;
    return {
      requests: latencies.length,
      seconds: this.#seconds,
      p50: quantile(0.5),
      p99: quantile(0.99),
      wrong: this.#wrong,
      complaint: this.#complaint,
    };
  }

  #addConnection(socket: Socket): void {
    const reader = new ResponseReader();
    let current: EncodedRequest | null = null;
    let started = 0;
    const send = (): void => {
      if (current === null) this.#waiting += 1;
      current = this.#requests[this.#next++ % this.#requests.length]!;
      started = performance.now();
      socket.write(current.bytes);
    };
    const rest = (): void => {
      if (current === null) return;
      current = null;
      this.#waiting -= 1;
      if (this.#waiting === 0 && !this.#isLoading) this.#onQuiet?.();
    };
    const connection: Connection = { socket, send };
    this.#connections.add(connection);
    socket.on('data', (piece) => {
      const response = reader.push(piece);
      if (!response || current === null) return;
      this.#latencies.push(performance.now() - started);
      this.#check(response, current.answer);
      if (this.#isLoading) send();
      else rest();
    });
    socket.on('error', (error) => this.#complain(error.message));
    socket.on('close', () => {
      if (!this.#connections.delete(connection)) return;
      this.#complain('the server closed the connection');
      rest();
    });
  }

  #check({ status, body }: Response, answer: Buffer): void {
    const right = status === 200 && (this.#job.masked ? Buffer.from(maskDigits(body.toString())) : body).equals(answer);
    if (!right) this.#complain(`status ${status}, ${body.subarray(0, 200).toString()}, expected ${answer.subarray(0, 200).toString()}`);
  }

  #complain(reason: string): void {
    this.#wrong++;
    this.#complaint ??= reason;
  }
}

/** Puts the jobs under load in turns, for this many seconds each. */
async function takeTurns(runs: readonly Run[], seconds: number, turnSeconds: number): Promise<void> {
  if (seconds === 0) return;
  const turns = Math.max(1, Math.round(seconds / turnSeconds));
  for (let turn = 0; turn < turns; turn++) {
    // Every other time in reverse order, so that none always runs after the same one.
    for (const run of turn % 2 === 0 ? runs : runs.toReversed()) await run.load(seconds / turns);
  }
}

const report = (what: Report): void => void process.send!(what);

const [load] = (await once(process, 'message')) as [Load];
const runs = load.jobs.map((job) => new Run(job));
await Promise.all(runs.map((run) => run.open()));
await takeTurns(runs, load.warmUpSeconds, load.turnSeconds);
for (const run of runs) run.reset();
const mayBegin = once(process, 'message');
report({ isWarm: true });
await mayBegin;
await takeTurns(runs, load.seconds, load.turnSeconds);
report({ isWarm: false, results: runs.map((run) => run.end()) });
process.disconnect();
