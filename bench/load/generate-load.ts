/**
 * The load generator: a process of its own that keeps a number of connections busy, sends each one's next request as soon as its answer is
 * in, and checks every answer. In: a job on standard input; out: its result on standard output. Uses plain sockets, to leave the CPU to the
 * servers.
 */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Job, type JobResult, maskDigits } from './job.ts';
import { type Response, ResponseReader } from './response-reader.ts';

const job = JSON.parse(await text(process.stdin)) as Job;
const { hostname, port, pathname, host } = new URL(job.url);
const requests = job.requests.map(({ headers, body, expected }) => {
  const all = { host, 'content-type': 'application/json', ...headers, 'content-length': Buffer.byteLength(body) };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = job.masked ? maskDigits(expected) : expected;
  return { bytes: Buffer.from(`POST ${pathname} HTTP/1.1\r\n${head.join('')}\r\n${body}`), answer: Buffer.from(answer) };
});

const latencies: number[] = [];
let next = 0;
let wrong = 0;
let complaint: string | null = null;
let stopping = false;

function complain(reason: string): void {
  wrong++;
  complaint ??= reason;
}

function check({ status, body }: Response, answer: Buffer): void {
  const right = status === 200 && (job.masked ? Buffer.from(maskDigits(body.toString())) : body).equals(answer);
  if (!right) complain(`status ${status}, ${body.subarray(0, 200).toString()}, expected ${answer.subarray(0, 200).toString()}`);
}

/** Runs one connection until the time is over and its last answer is in. */
function runConnection(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const reader = new ResponseReader();
    let current = requests[0]!;
    let started = 0;
    const send = (): void => {
      current = requests[next++ % requests.length]!;
      started = performance.now();
      socket.write(current.bytes);
    };
    socket.on('connect', send);
    socket.on('data', (piece) => {
      const response = reader.push(piece);
      if (!response) return;
      if (!stopping) latencies.push(performance.now() - started);
      check(response, current.answer);
      if (stopping) socket.end();
      else send();
    });
    socket.on('error', (error) => complain(error.message));
    socket.on('close', () => {
      if (!stopping) complain('the server closed the connection');
      resolve();
    });
  });
}

const began = performance.now();
let seconds = job.seconds;
setTimeout(() => {
  stopping = true;
  seconds = (performance.now() - began) / 1000;
}, job.seconds * 1000);
await Promise.all(Array.from({ length: job.connections }, runConnection));

latencies.sort((one, other) => one - other);
const quantile = (part: number): number => latencies[Math.floor(part * latencies.length)] ?? Number.NaN;
const { user, system } = process.cpuUsage();
const result: JobResult = {
  requests: latencies.length,
  seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  wrong,
  complaint,
  cpuSeconds: (user + system) / 1e6,
};
process.stdout.write(JSON.stringify(result));
