/** Traces and metrics of a server over PostgreSQL, as a receiver of OTLP sees them; and a receiver that is down, slow or refuses, which does no harm. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { createTelemetry, type Telemetry, type TelemetryOptions } from '../../src/telemetry/create-telemetry.ts';
import { readOtlpSettings } from '../../src/telemetry/otlp/otlp-settings.ts';
import { type OtlpReceiver, type RecordedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

const secret = 'a secret that has more than 32 characters';
const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentSpanId = 'b7ad6b7169203331';
let databases: TestDatabases;
let graph: Rowgraph;
let apiKey: string;
before(async () => {
  databases = await startTestDatabases();
  const database = await databases.create(`create table note (id int primary key, body text); insert into note values (1, 'secret body');
    create function name_of_application() returns text language sql stable as 'select current_setting(''application_name'')';`);
  graph = await createRowgraph({ database: database.url, poolSize: 2 });
  apiKey = await signKey(secret, 'anon');
});
after(async () => {
  await graph.close();
  await databases.close();
});

interface Traced {
  readonly server: RunningServer;
  readonly telemetry: Telemetry;
  readonly receiver: OtlpReceiver;
  readonly log: string[];
  ask(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Exports all that is left, and ends the server. */
  finish(): Promise<void>;
}

async function startTraced(environment: Record<string, string> = {}, more: TelemetryOptions = {}): Promise<Traced> {
  const receiver = await startOtlpReceiver();
  const log: string[] = [];
  const settings = readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...environment });
  const telemetry = createTelemetry({ level: 'info', destination: { write: (line) => void log.push(line) }, otlp: settings, ...more });
  const server = await startServer({ graph, jwtSecret: secret, maxBatch: 5, traceDatabase: true, telemetry });
  const ask = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${server.url}/graphql/v1`, {
      method: 'POST',
      headers: { apiKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const finish = async (): Promise<void> => {
    await server.close();
    await telemetry.stop(5000);
    await receiver.stop();
  };
  return { server, telemetry, receiver, log, ask, finish };
}

const attributes = (span: RecordedSpan | undefined): Record<string, unknown> =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));

describe('a trace', () => {
  test('continues that of the sender, with a span for each stage, in order', async () => {
    const { ask, receiver, finish } = await startTraced({
      OTEL_SERVICE_NAME: 'notes',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test%201',
    });
    const query = 'query Notes($body: String) { noteCollection(filter: { body: { eq: $body } }) { edges { node { id } } } }';
    const headers = { traceparent: `00-${traceId}-${parentSpanId}-01`, tracestate: 'vendor=1' };
    assert.equal((await ask({ query, variables: { body: 'secret body' } }, headers)).status, 200);
    await finish();
    const [root, ...children] = receiver.spans;
    assert.deepEqual(
      [root?.name, root?.traceId, root?.parentSpanId, root?.traceState, root?.kind],
      ['POST /graphql/v1', traceId, parentSpanId, 'vendor=1', 2],
    );
    assert.deepEqual(
      children.map(({ name }) => name),
      ['receive', 'parse', 'plan', 'queue', 'batch'],
    );
    const times = children.flatMap(({ startTimeUnixNano, endTimeUnixNano }) => [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)]);
    assert.deepEqual(
      times,
      times.toSorted((one, other) => Number(one - other)),
    );
    for (const child of children) {
      assert.deepEqual([child.traceId, child.parentSpanId], [traceId, root?.spanId]);
      assert.ok(
        BigInt(child.startTimeUnixNano) >= BigInt(root!.startTimeUnixNano) &&
          BigInt(child.endTimeUnixNano) <= BigInt(root!.endTimeUnixNano),
      );
    }
    const { 'rowgraph.request_id': requestId, 'http.response.body.size': size, ...rest } = attributes(root);
    assert.ok(typeof requestId === 'string' && Number(size) > 0);
    assert.deepEqual(rest, {
      'http.request.method': 'POST',
      'url.path': '/graphql/v1',
      'http.response.status_code': '200',
      'graphql.operation.name': 'Notes',
      'graphql.operation.type': 'query',
      'rowgraph.role': 'anon',
    });
    assert.deepEqual(attributes(children.at(-1)), { 'db.system.name': 'postgresql', 'graphql.operation.name': 'Notes' });
    assert.match(
      receiver.resource,
      /"service\.name","value":\{"stringValue":"notes"\}.*|"deployment.environment","value":\{"stringValue":"test 1"\}/,
    );
    assert.doesNotMatch(JSON.stringify(receiver.spans), /secret body/);
  });

  test('has the operations of a batch, and says why a request failed', async () => {
    const { ask, receiver, finish } = await startTraced();
    await ask([{ query: '{ noteCollection { edges { node { id } } } }' }, { query: '{ __typename }' }, { query: '{ nothing }' }]);
    await ask({ query: '{ __typename }' }, { apiKey: 'wrong' });
    await finish();
    const roots = receiver.spans.filter(({ kind }) => kind === 2);
    const childrenOf = (root: RecordedSpan | undefined) =>
      receiver.spans.filter((span) => span.parentSpanId === root?.spanId).map(({ name }) => name);
    assert.deepEqual(childrenOf(roots[0]), ['receive', 'parse', 'plan', 'queue', 'batch', 'parse', 'plan']);
    assert.equal(attributes(roots[0])['rowgraph.batch_size'], '3');
    assert.deepEqual([attributes(roots[1])['error.type'], childrenOf(roots[1])], ['UNAUTHENTICATED', []]);
    assert.notEqual(roots[0]?.traceId, roots[1]?.traceId);
  });

  test('begins anew where the header is no trace context, and follows its sampling where it is', async () => {
    const { ask, receiver, finish } = await startTraced();
    const garbage = [
      '',
      'garbage',
      `00-${traceId}-${parentSpanId}-01, 00-${traceId}-${parentSpanId}-01`,
      `00-${'0'.repeat(32)}-${parentSpanId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `ff-${traceId}-${parentSpanId}-01`,
      `00-${traceId}-${parentSpanId}-01-more`,
      `00-${traceId.toUpperCase()}-${parentSpanId}-01`,
      `00-${traceId}-${parentSpanId}-01${'0'.repeat(5000)}`,
    ];
    for (const traceparent of garbage) assert.equal((await ask({ query: '{ __typename }' }, { traceparent })).status, 200);
    await ask({ query: '{ __typename }' }, { traceparent: `00-${traceId}-${parentSpanId}-00` });
    await ask({ query: '{ __typename }' }, { traceparent: `01-${traceId}-${parentSpanId}-01-more`, tracestate: 'x'.repeat(600) });
    await finish();
    const roots = receiver.spans.filter(({ kind }) => kind === 2);
    assert.equal(roots.length, garbage.length + 1);
    assert.ok(roots.slice(0, -1).every((root) => root.traceId !== traceId && root.parentSpanId === undefined));
    assert.deepEqual([roots.at(-1)?.traceId, roots.at(-1)?.traceState], [traceId, undefined]);
  });

  test('is told to PostgreSQL, whatever the connection and however often its statement is prepared', async () => {
    const { ask, receiver, finish } = await startTraced({ OTEL_BSP_SCHEDULE_DELAY: '5' });
    for (let index = 0; index < 6; index += 1) {
      const response = await ask(
        { query: '{ name_of_application }' },
        index % 2 === 0 ? { traceparent: `00-${traceId}-${parentSpanId}-01` } : {},
      );
      const { data } = (await response.json()) as { data: { name_of_application: string } };
      const root = (await exported(receiver, index + 1))[index];
      assert.equal(data.name_of_application, `00-${root?.traceId}-${root?.spanId}-01`);
    }
    await finish();
    const { data } = await graph.execute({ query: '{ name_of_application }' }, { role: 'anon' });
    assert.deepEqual(data, { name_of_application: '' });
  });
});

/** The spans of so many requests, as soon as they have arrived. */
async function exported(receiver: OtlpReceiver, count: number): Promise<RecordedSpan[]> {
  const roots = (): RecordedSpan[] => receiver.spans.filter(({ kind }) => kind === 2);
  await until(() => roots().length >= count);
  return roots();
}

test('metrics are those of /metrics, with headers, compressed', async () => {
  const { ask, server, receiver, finish } = await startTraced({
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  });
  for (let index = 0; index < 3; index += 1) await ask({ query: '{ noteCollection { edges { node { id } } } }' });
  const text = await (await fetch(`${server.url}/metrics`)).text();
  await finish();
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual([...receiver.metrics.keys()].sort(), names.sort());
  const duration = receiver.metrics.get('rowgraph_request_duration_seconds')?.histogram?.dataPoints[0];
  assert.deepEqual([duration?.count, duration?.bucketCounts.length], ['3', (duration?.explicitBounds.length ?? 0) + 1]);
  assert.equal(
    duration?.bucketCounts.reduce((sum, count) => sum + Number(count), 0),
    3,
  );
  assert.equal(receiver.metrics.get('rowgraph_requests_total')?.sum?.dataPoints[0]?.asDouble, 3);
  const paths = receiver.requests.map(({ path, headers }) => `${path} ${headers['x-key']}`);
  assert.deepEqual([...new Set(paths)].sort(), ['/v1/metrics a b', '/v1/traces a b']);
});

describe('a receiver', () => {
  const query = '{ noteCollection { edges { node { id } } } }';
  for (const behaviour of [500, 302, 'hang', 'gone'] as const) {
    test(`that ${behaviour === 'hang' || behaviour === 'gone' ? `is ${behaviour}` : `answers ${behaviour}`} does no harm, and is reported a few times`, async () => {
      const environment = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1', OTEL_BSP_MAX_QUEUE_SIZE: '20', OTEL_EXPORTER_OTLP_TIMEOUT: '300' };
      const { ask, receiver, log, telemetry, server } = await startTraced(environment);
      if (behaviour === 'gone') await receiver.stop();
      else receiver.behaviour = behaviour;
      const responses = await Promise.all(Array.from({ length: 60 }, () => ask({ query })));
      assert.ok(responses.every(({ status }) => status === 200));
      await server.close();
      await telemetry.stop(500);
      if (behaviour !== 'gone') await receiver.stop();
      const failures = log.filter((line) => line.includes('failed to export'));
      assert.ok(failures.length <= 60 && log.length < 120, String(log.length));
      if (behaviour !== 'hang') assert.ok(failures.length > 0);
      assert.equal((await graph.execute({ query }, { role: 'anon' })).errors, undefined);
    });
  }
});

test('nothing is exported, begun or recorded unless the environment asks for it', async () => {
  assert.equal(readOtlpSettings({}), null);
  assert.equal(readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h', OTEL_SDK_DISABLED: 'true' }), null);
  assert.equal(
    readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h', OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }),
    null,
  );
  assert.deepEqual(createTelemetry({ level: 'silent' }).endpointOptions, { detailedEvents: false });
  const settings = readOtlpSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h/base/',
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://m/own',
  });
  assert.deepEqual([settings?.traces?.url, settings?.metrics?.url], ['http://h/base/v1/traces', 'https://m/own']);
  const wrong: [string, string][] = [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'none'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '-1'],
    ['OTEL_TRACES_SAMPLER', '__proto__'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ];
  for (const [name, value] of wrong)
    assert.throws(() => readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h', [name]: value }), new RegExp(`^Error: ${name} `));
});
