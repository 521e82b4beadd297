/** The slow-operation log and the access log: what is in them, and what never is. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { startServer } from '../../src/http/transport/start-server.ts';
import { createTelemetry, type TelemetryOptions } from '../../src/telemetry/create-telemetry.ts';
import { redactDocument } from '../../src/telemetry/request-log.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const secret = 'a secret that has more than 32 characters';
let database: TestGraph;
let apiKey: string;
before(async () => {
  database = await startTestGraph("create table note (id int primary key, body text); insert into note values (1, 'b')");
  apiKey = await signKey(secret, 'anon');
});
after(() => database.stop());

type Line = Readonly<Record<string, unknown>>;

/** Sends requests to a server of its own. Resolves to its log lines. */
async function logOf(
  options: TelemetryOptions,
  requests: readonly { body: unknown; headers?: Record<string, string>; search?: string }[],
): Promise<Line[]> {
  const lines: Line[] = [];
  const telemetry = createTelemetry({
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line) as Line) },
    ...options,
  });
  const server = await startServer({ graph: database.graph, jwtSecret: secret, maxBatch: 5, telemetry });
  for (const { body, headers, search = '' } of requests) {
    const init = { method: 'POST', headers: { apiKey, 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
    await (await fetch(`${server.url}/graphql/v1${search}`, init)).text();
  }
  await server.close();
  return lines.filter(({ msg }) => msg === 'slow operation' || msg === 'access');
}

const query =
  'query Mine($body: String) { noteCollection(first: 7, filter: { or: [{ body: { eq: $body } }, { body: { eq: "private" } }, { id: { eq: 987654 } }] }) { edges { node { id } } } }';
const request = { query, variables: { body: 'confidential' } };
const all = { milliseconds: 0, hasValues: false };

test('a slow operation is a line that identifies it, without its values', async () => {
  const [line] = await logOf({ slowOperations: all }, [{ body: request }]);
  const { time: _time, pid: _pid, requestId, milliseconds, stages, sqlHash, document, cost, ...rest } = line ?? {};
  assert.deepEqual(rest, {
    level: 40,
    msg: 'slow operation',
    operation: 'Mine',
    kind: 'query',
    role: 'anon',
    code: null,
    documentHash: createHash('sha256').update(query).digest('hex'),
  });
  assert.ok(typeof requestId === 'string' && typeof milliseconds === 'number' && /^[0-9a-f]{64}$/.test(String(sqlHash)));
  assert.deepEqual(Object.keys(stages as object), ['plan', 'queue', 'database']);
  assert.equal((cost as Record<string, number>).estimatedRows, 7);
  assert.match(String(document), /first: 7[\s\S]*eq: ""[\s\S]*eq: 0/);
  assert.doesNotMatch(JSON.stringify(line), /private|confidential/);
  assert.doesNotMatch(String(document), /987654/);
});

test('values are logged if they are asked for', async () => {
  const [line] = await logOf({ slowOperations: { ...all, hasValues: true } }, [{ body: request }]);
  assert.deepEqual([line?.document, line?.variables], [query, request.variables]);
});

test('only what takes long enough is slow; of a batch, each operation by itself', async () => {
  assert.deepEqual(await logOf({ slowOperations: { ...all, milliseconds: 3_600_000 } }, [{ body: request }]), []);
  const lines = await logOf({ slowOperations: all }, [
    { body: [request, { query: 'query Other { __typename }' }, { query: '{ nothing }' }] },
  ]);
  assert.deepEqual(
    lines.slice(0, 2).map(({ operation }) => operation),
    ['Mine', 'Other'],
  );
});

test('the access log has a line for each request, and no key, query or body', async () => {
  const lines = await logOf({ accessLog: true }, [
    { body: request, search: '?token=private' },
    { body: request, headers: { apiKey: 'private' } },
    { body: { query: `query ${'n'.repeat(5000)} { __typename }` } },
  ]);
  const shown = lines.map(({ method, path, status, code, role, address, operation }) => [
    method,
    path,
    status,
    code,
    role,
    address,
    String(operation).length,
  ]);
  assert.deepEqual(shown, [
    ['POST', '/graphql/v1', 200, null, 'anon', '127.0.0.1', 4],
    ['POST', '/graphql/v1', 401, 'UNAUTHENTICATED', null, '127.0.0.1', 4],
    ['POST', '/graphql/v1', 200, null, 'anon', '127.0.0.1', 100],
  ]);
  assert.doesNotMatch(JSON.stringify(lines), /private|confidential/);
});

test('both logs are written whatever the minimum level is', async () => {
  for (const level of ['silent', 'error', 'trace'] as const) {
    const lines = await logOf({ level, accessLog: true, slowOperations: all }, [{ body: request }]);
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['access', 'slow operation'],
    );
  }
});

test('a flood of slow operations writes ten lines a second', async () => {
  const lines = await logOf({ slowOperations: all, clock: { now: () => 0, after: () => undefined } }, Array(15).fill({ body: request }));
  assert.equal(lines.length, 10);
});

test('roles that tokens name do not make the metrics grow', async () => {
  const telemetry = createTelemetry({ level: 'silent' });
  for (let index = 0; index < 500; index += 1) {
    const event = { kind: 'request-finished', requestId: 'r', status: 200, seconds: 0, bytes: 1 } as const;
    telemetry.observe({ ...event, role: `role ${index}`, code: null });
    telemetry.observe({ ...event, role: `made up ${index}`, code: 'UNAUTHENTICATED' });
  }
  const counts = [...(await telemetry.writeMetrics()).matchAll(/^rowgraph_requests_total\{code="(\w+)",role="([^"]*)"\} (\d+)$/gm)];
  assert.ok(counts.length <= 103, String(counts.length));
  assert.equal(
    counts.reduce((sum, [, , , count]) => sum + Number(count), 0),
    1000,
  );
  assert.deepEqual(
    counts.filter(([, code]) => code === 'UNAUTHENTICATED').map(([, , role]) => role),
    [''],
  );
});

test('redactDocument keeps what a document is, and takes out what it says', () => {
  const redacted = redactDocument(
    '{ a(first: 5, x: [1, 2.5, "t", """block"""], e: RED, b: true, n: null, o: { first: 6 }) @include(if: $v) { b } }',
  );
  assert.equal(
    redacted?.replaceAll(/\s+/g, ' '),
    '{ a(first: 5, x: [0, 0.0, "", ""], e: RED, b: true, n: null, o: { first: 0 }) @include(if: $v) { b } }',
  );
  assert.equal(redactDocument(`{ a ${'b '.repeat(20_000)} }`), null);
});
