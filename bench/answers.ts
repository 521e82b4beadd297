/** The requests of a workload, each with its answer, and the comparison of the servers' answers, value by value. */
import { createHash } from 'node:crypto';
import { maskDigits, type PreparedRequest } from './load/load.ts';
import { signToken } from './servers/caller.ts';
import type { RunningServer } from './servers/start-server.ts';
import { type Asked, documentFor, type Variables, type Workload } from './workloads/workload.ts';

/** Few enough to compare each answer, and many enough that a cached answer gains nothing. */
const requestCount = 64;

type Message = Pick<PreparedRequest, 'headers' | 'body'>;

/** A server's answer has errors, or no data. */
export class RefusedError extends Error {}

/** Sends every request to a server once; rejects with a `RefusedError` if an answer has errors or no rows. */
export async function prepareRequests(server: RunningServer, workload: Workload, secret: string): Promise<PreparedRequest[]> {
  const key = signToken({ role: 'anon' }, secret);
  const requests: PreparedRequest[] = [];
  for (let index = 0; index < requestCount; index++) {
    const headers: Record<string, string> = { apikey: key };
    if (workload.role !== 'anon') {
      headers.authorization = `Bearer ${signToken({ role: workload.role, sub: subjectOf(listenerAt(index)) }, secret)}`;
    }
    const variables = workload.variables(index);
    const cursor = workload.position ? { cursor: await cursorAt(server, workload.position, headers, variables) } : {};
    const message = toMessage(server, workload, headers, { ...variables, ...cursor });
    requests.push({ ...message, expected: await ask(server, message) });
  }
  await askAgain(server, workload, requests[0]!);
  return requests;
}

/** Under load each answer must be the same again, so it must be the same now. */
async function askAgain(server: RunningServer, workload: Workload, { expected, ...message }: PreparedRequest): Promise<void> {
  const again = await ask(server, message);
  const same = workload.changing ? maskDigits(again) === maskDigits(expected) : again === expected;
  if (!same) throw new Error(`${server.name} answers ${workload.name} otherwise the second time: ${again}`);
}

function toMessage(server: RunningServer, asked: Asked, headers: Message['headers'], variables: Variables): Message {
  const query = documentFor(server.name, asked);
  if (query === null) throw new Error(`${server.name} has no answer to ${asked.rowgraph}`);
  const operationName = /^\s*(?:query|mutation) (\w+)/.exec(query)?.[1];
  return { headers, body: JSON.stringify({ query, operationName, variables: { ...variables } }) };
}

async function cursorAt(server: RunningServer, position: Asked, headers: Message['headers'], variables: Variables): Promise<string> {
  const answer = await ask(server, toMessage(server, position, headers, variables));
  const cursor = /"endCursor":\s*"([^"]+)"/.exec(answer)?.[1];
  if (cursor === undefined) throw new Error(`${server.name} gives no cursor: ${answer}`);
  // PostgreSQL breaks base64 into lines.
  return cursor.replaceAll('\\n', '');
}

async function ask({ name, url }: RunningServer, { headers, body }: Message): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const text = await response.text();
  const answer = JSON.parse(text) as { data?: unknown; errors?: unknown };
  if (response.status !== 200 || answer.errors !== undefined || !answer.data) {
    throw new RefusedError(`${name} answers ${response.status} to ${body.slice(0, 300)}: ${text.slice(0, 500)}`);
  }
  return text;
}

/** How many values each answer has on average. Throws at the first value that differs between servers. */
export function compareAnswers(workload: Workload, answers: ReadonlyMap<string, readonly PreparedRequest[]>): number {
  const [[firstName, firstRequests], ...others] = [...answers] as [
    [string, readonly PreparedRequest[]],
    ...[string, readonly PreparedRequest[]][],
  ];
  let total = 0;
  for (const [index, { expected }] of firstRequests.entries()) {
    const values = valuesOfAnswer(expected, workload.changing ?? []);
    if (values.length === 0) throw new Error(`${workload.name}: an answer without values: ${expected}`);
    total += values.length;
    for (const [name, requests] of others) {
      const difference = findDifference(values, valuesOfAnswer(requests[index]?.expected ?? '{}', workload.changing ?? []));
      if (difference) throw new Error(`${workload.name}, request ${index}: ${firstName} and ${name} differ: ${difference}`);
    }
  }
  return total / firstRequests.length;
}

function findDifference(one: readonly string[], other: readonly string[]): string | null {
  const at = Array.from({ length: Math.max(one.length, other.length) }, (_, index) => index).find((index) => one[index] !== other[index]);
  return at === undefined ? null : `value ${at} of ${one.length} and ${other.length}, ${one[at]} and ${other[at]}`;
}

/**
 * The values of an answer in order, without the wrappers that a dialect puts around rows, and with one spelling for values that dialects
 * spell differently, so that two servers' answers can be compared.
 */

/** Keys whose values are specific to a server. */
const ownKeys = new Set(['endCursor']);
/** Columns whose values are arrays or documents. */
const wholeKeys = new Set(['genres', 'details']);

/** The values of an answer, each as `key=value`. */
export function valuesOfAnswer(text: string, changing: readonly string[]): string[] {
  const values: string[] = [];
  collect(JSON.parse(text), '', new Set([...ownKeys, ...changing]), values);
  return values;
}

function collect(value: unknown, key: string, left: ReadonlySet<string>, values: string[]): void {
  if (left.has(key)) return;
  if (wholeKeys.has(key) || value === null || typeof value !== 'object') values.push(`${key}=${spell(value)}`);
  else if (Array.isArray(value)) for (const element of value) collect(element, '', left, values);
  else for (const [name, inner] of Object.entries(value)) collect(inner, name, left, values);
}

function spell(value: unknown): string {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return JSON.stringify(Object.entries(value).toSorted());
  if (typeof value !== 'string') return JSON.stringify(value);
  if (value.startsWith('{')) return spell(JSON.parse(value));
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toISOString();
  return /^-?\d+(\.\d+)?$/.test(value) ? String(Number(value)) : JSON.stringify(value);
}

/** The subject of a listener's token, computed as in data/seed.sql. */

/** A UUID: the `subject` of listener `number`. */
export function subjectOf(number: number): string {
  const digits = createHash('md5').update(`listener ${number}`).digest('hex');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The listener as whom request number `index` is sent: one of the first thousand. */
export function listenerAt(index: number): number {
  return 1 + ((index * 37) % 1000);
}
