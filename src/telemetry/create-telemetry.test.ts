import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from '../errors/database-error.ts';
import type { Event } from '../events.ts';
import { createTelemetry, type Telemetry } from './create-telemetry.ts';

const events: readonly Event[] = [
  { kind: 'server-started', url: 'http://localhost:1' },
  { kind: 'request-started' },
  { kind: 'request-finished', requestId: 'r1', role: 'anon', code: null, status: 200, seconds: 0.0012345, bytes: 10 },
  { kind: 'request-started' },
  { kind: 'request-finished', requestId: 'r2', role: null, code: 'DATABASE_UNAVAILABLE', status: 503, seconds: 1, bytes: 20 },
  { kind: 'defect-found', requestId: 'r3', error: new Error('broken', { cause: new Error('because') }) },
  { kind: 'schema-loaded', version: '7', seconds: 0.1 },
  { kind: 'schema-load-failed', error: new Error('no catalog') },
  { kind: 'batch-retried', attempt: 1, sqlstate: '40001' },
  { kind: 'extension-outdated', installed: '1.0', current: '1.1' },
  { kind: 'pool-failed', error: new Error('ECONNRESET') },
  { kind: 'server-stopping' },
  { kind: 'server-stopped' },
];

function record(level: 'debug' | 'info' | 'silent'): { telemetry: Telemetry; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const telemetry = createTelemetry({ level, destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  for (const event of events) telemetry.observe(event);
  return { telemetry, lines };
}

test('what an operator should know is logged; successful requests only at level debug', () => {
  const messagesOf = (lines: readonly Record<string, unknown>[]): unknown[] =>
    lines.map(({ level, msg, requestId }) => [level, msg, requestId ?? null].join(' '));
  assert.deepEqual(messagesOf(record('info').lines), [
    '30 serving ',
    '40 request r2',
    '50 bug in rowgraph: please report it r3',
    '30 schema loaded ',
    '50 failed to load the schema; the previous one stays in use, and attempts follow every second ',
    '40 the SQL extension in the database is outdated; "rowgraph extension status" says how to update it ',
    '40 database connection failed; another one is opened when it is needed ',
    '30 stopping: finishing the requests in flight ',
    '30 stopped ',
  ]);
  assert.ok(messagesOf(record('debug').lines).includes('20 request r1'));
  assert.deepEqual(record('silent').lines, []);
});

test('ignored comment directives are logged in one line, which names the first of them', () => {
  const lines: Record<string, unknown>[] = [];
  const { observe } = createTelemetry({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  const problems = Array.from({ length: 25 }, (_, number) => `table public.t${number}: "name" must be a name`);
  observe({ kind: 'directives-ignored', problems });
  assert.deepEqual(
    lines.map(({ level, count, problems: named, msg }) => ({ level, count, named, msg })),
    [{ level: 40, count: 25, named: problems.slice(0, 20), msg: 'comment directives ignored; "rowgraph doctor" lists them all' }],
  );
});

test('a document that only lenient coercion accepts is logged in one line, a few of them a second', () => {
  const lines: Record<string, unknown>[] = [];
  const { observe } = createTelemetry({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  const mismatches = Array.from({ length: 25 }, (_, number) => `$v${number} is declared String`);
  for (let hash = 0; hash < 20; hash += 1)
    observe({ kind: 'document-mismatched', hash: String(hash), operations: ['a'.repeat(200), null], mismatches });
  assert.equal(lines.length, 10);
  const { level, document, operations, count, mismatches: named } = lines[0]!;
  assert.deepEqual(
    { level, document, operations, count, named },
    {
      level: 30,
      document: '0',
      operations: ['a'.repeat(100), null],
      count: 25,
      named: mismatches.slice(0, 20),
    },
  );
});

test('a failing database is logged with the reason, but without a stack trace', () => {
  const lines: Record<string, unknown>[] = [];
  const { observe } = createTelemetry({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  const addresses = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`));
  observe({ kind: 'pool-failed', error: new AggregateError(addresses, 'all addresses refuse') });
  observe({
    kind: 'database-awaited',
    isReachable: false,
    error: new Error('cannot use the database', { cause: addresses[0] }),
    milliseconds: 1,
  });
  assert.deepEqual(
    lines.map(({ reason, err }) => [reason, err]),
    [
      ['connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432', undefined],
      ['cannot use the database', undefined],
    ],
  );
});

test('a request is logged in one line, a defect with its stack', () => {
  const { lines } = record('debug');
  const request = lines.find(({ requestId }) => requestId === 'r1');
  const { pid: _pid, time: _time, ...rest } = request ?? {};
  assert.deepEqual(rest, {
    level: 20,
    requestId: 'r1',
    role: 'anon',
    code: null,
    status: 200,
    milliseconds: 1.23,
    bytes: 10,
    msg: 'request',
  });
  const defect = JSON.stringify(lines.find(({ requestId }) => requestId === 'r3'));
  assert.match(defect, /broken.*because/);
});

test('every event is counted', async () => {
  const text = await record('silent').telemetry.writeMetrics();
  for (const line of [
    'rowgraph_requests_total{code="OK",role="anon"} 1',
    'rowgraph_requests_total{code="DATABASE_UNAVAILABLE",role=""} 1',
    'rowgraph_request_duration_seconds_count 2',
    'rowgraph_request_duration_seconds_bucket{le="0.001"} 0',
    'rowgraph_request_duration_seconds_bucket{le="0.002"} 1',
    'rowgraph_request_duration_seconds_bucket{le="+Inf"} 2',
    'rowgraph_requests_in_flight 0',
    'rowgraph_response_bytes_total 30',
    'rowgraph_schema_loads_total{outcome="loaded"} 1',
    'rowgraph_schema_loads_total{outcome="failed"} 1',
    'rowgraph_batches_retried_total 1',
    'rowgraph_pool_failures_total 1',
    'rowgraph_defects_total 1',
  ]) {
    assert.ok(text.includes(`\n${line}\n`), line);
  }
});

test('caches of several owners are shown together', async () => {
  const { telemetry } = record('silent');
  telemetry.watchCaches(() => [{ name: 'a', entries: 1, hits: 2, misses: 3 }]);
  telemetry.watchCaches(() => [{ name: 'b', entries: 4, hits: 5, misses: 6 }]);
  const text = await telemetry.writeMetrics();
  assert.match(text, /rowgraph_cache_hits\{cache="a"\} 2\n/);
  assert.match(text, /rowgraph_cache_misses\{cache="b"\} 6\n/);
});

test('members that contain keys are removed from everything that is logged', () => {
  const lines: string[] = [];
  const telemetry = createTelemetry({ destination: { write: (line) => void lines.push(line) } });
  const error = Object.assign(new Error('x'), {
    headers: { authorization: 'Bearer secret-token', apikey: 'secret-key' },
    jwtSecret: 'secret-itself',
  });
  telemetry.observe({ kind: 'defect-found', requestId: null, error });
  assert.ok(lines.length === 1 && !/secret-token|secret-key|secret-itself/.test(lines[0] ?? ''), lines[0]);
});

test('a database that could not be asked for changes of the schema is a warning, anything else an error', () => {
  const { telemetry, lines } = record('info');
  const cases: [sqlstate: string | null, level: number][] = [
    [null, 40],
    ['57P01', 40],
    ['08006', 40],
    ['53300', 40],
    ['42501', 50],
    ['XX000', 50],
  ];
  for (const [sqlstate, level] of cases) {
    const error = new DatabaseError('terminating connection due to administrator command', { sqlstate });
    telemetry.observe({ kind: 'schema-load-failed', error });
    const line = lines.pop();
    assert.equal(line?.level, level, String(sqlstate));
    assert.match(String(line?.msg), /^failed to .*the schema.*; the previous one stays in use, and attempts follow every second$/);
    if (level === 40) assert.deepEqual([line?.reason, line?.err], [error.message, undefined]);
  }
});
