/**
 * The load generator: keeps a number of connections to a server busy, sends each one's next request as soon as its answer is in, and checks
 * every answer. Uses plain sockets, to leave the CPU to the server.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, type LoadResult, maskDigits } from './load.ts';
import { type Response, ResponseReader } from './response-reader.ts';

interface EncodedRequest {
  readonly bytes: Buffer;
  readonly answer: Buffer;
}

class LoadGenerator {
  readonly #load: Load;
  readonly #requests: readonly EncodedRequest[];
  readonly #busy: Promise<void>[] = [];
  #latencies: number[] = [];
  #cpu = process.cpuUsage();
  #next = 0;
  #wrong = 0;
  #complaint: string | null = null;
  #isOver = false;

  constructor(load: Load) {
    this.#load = load;
    const { pathname, host } = new URL(load.url);
    this.#requests = load.requests.map(({ headers, body, expected }) => {
      const all = { host, 'content-type': 'application/json', ...headers, 'content-length': Buffer.byteLength(body) };
      const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      const answer = load.masked ? maskDigits(expected) : expected;
      return { bytes: Buffer.from(`POST ${pathname} HTTP/1.1\r\n${head.join('')}\r\n${body}`), answer: Buffer.from(answer) };
    });
  }

  /** Opens the connections, and keeps them busy from then on. */
  async start(): Promise<void> {
    const { hostname, port } = new URL(this.#load.url);
    const sockets = Array.from({ length: this.#load.connections }, () => connect({ host: hostname, port: Number(port), noDelay: true }));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) this.#busy.push(this.#keepBusy(socket));
  }

  /** From now on, requests count. */
  begin(): void {
    this.#latencies = [];
    this.#cpu = process.cpuUsage();
  }

  /** Waits for the last answers. */
  async stop(seconds: number): Promise<LoadResult> {
    this.#isOver = true;
    const latencies = this.#latencies.toSorted((one, other) => one - other);
    await Promise.all(this.#busy);
    const quantile = (part: number): number => latencies[Math.floor(part * latencies.length)] ?? Number.NaN;
    const { user, system } = process.cpuUsage(this.#cpu);
    const result = { requests: latencies.length, seconds, p50: quantile(0.5), p99: quantile(0.99), cpu: (user + system) / 1e6 };
    return { ...result, wrong: this.#wrong, complaint: this.#complaint };
  }

  /** Resolves when the load is over, or when the server has closed the connection. */
  #keepBusy(socket: Socket): Promise<void> {
    return new Promise((resolve) => {
      const reader = new ResponseReader();
      let current = this.#requests[0]!;
      let started = 0;
      const send = (): void => {
        current = this.#requests[this.#next++ % this.#requests.length]!;
        started = performance.now();
        socket.write(current.bytes);
      };
      socket.on('data', (piece) => {
        const response = reader.push(piece);
        if (!response) return;
        this.#latencies.push(performance.now() - started);
        this.#check(response, current.answer);
        if (this.#isOver) socket.end(resolve);
        else send();
      });
      socket.on('error', (error) => this.#complain(error.message));
      socket.on('close', () => {
        if (!this.#isOver) this.#complain('the server closed the connection');
        resolve();
      });
      send();
    });
  }

  #check({ status, body }: Response, answer: Buffer): void {
    const right = status === 200 && (this.#load.masked ? Buffer.from(maskDigits(body.toString())) : body).equals(answer);
    if (!right) this.#complain(`status ${status}, ${body.subarray(0, 200).toString()}, expected ${answer.subarray(0, 200).toString()}`);
  }

  #complain(reason: string): void {
    this.#wrong++;
    this.#complaint ??= reason;
  }
}

const [load] = (await once(process, 'message')) as [Load];
const generator = new LoadGenerator(load);
await generator.start();
await sleep(load.warmUpSeconds * 1000);
process.send!('warm');
generator.begin();
const began = performance.now();
await sleep(load.seconds * 1000);
process.send!(await generator.stop((performance.now() - began) / 1000));
process.disconnect();
