/** The requests of a workload for one server, each with its answer from an otherwise idle server. */
import { maskDigits, type PreparedRequest } from '../load/job.ts';
import type { RunningServer } from '../servers/start-server.ts';
import { signToken } from '../servers/tokens.ts';
import { listenerAt, subjectOf } from '../workloads/subject-of.ts';
import { type Asked, documentFor, type Variables, type Workload } from '../workloads/workload.ts';

/** Few enough to compare each answer, and many enough that a cached answer gains nothing. */
const requestCount = 64;

type Message = Pick<PreparedRequest, 'headers' | 'body'>;

/** A server's answer has errors, or no data. */
export class RefusedError extends Error {}

/** Sends every request to a server once; rejects with a `RefusedError` if an answer has errors or no rows. */
export async function prepareRequests(server: RunningServer, workload: Workload, secret: string): Promise<PreparedRequest[]> {
  const key = signToken({ role: 'anon' }, secret);
  const requests: PreparedRequest[] = [];
  for (let index = 0; index < (workload.requests ?? requestCount); index++) {
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
