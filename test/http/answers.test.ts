/** How a response is sent: media type, status, encoding, and headers for browsers of other origins. */
import assert from 'node:assert/strict';
import { request as sendRequest } from 'node:http';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { RawResponse } from '../../src/engine/request.ts';
import { ApiError } from '../../src/errors/api-error.ts';
import { type ErrorCode, errorCodes } from '../../src/errors/codes.ts';
import { compressionThreshold } from '../../src/http/endpoint/compress-body.ts';
import { rawResponse, readError, startTestServer, type TestServer } from './start-test-server.ts';

let server: TestServer;
let next: RawResponse | Error = rawResponse('{"data":{}}');
before(async () => {
  server = await startTestServer({
    execute: async () => {
      if (next instanceof Error) throw next;
      return next;
    },
  });
});
after(() => server.close());

const json = 'application/json; charset=utf-8';
const modern = 'application/graphql-response+json; charset=utf-8';

const accepted: readonly [accept: string | undefined, mediaType: string][] = [
  [undefined, json],
  ['', json],
  ['*/*', json],
  ['application/*', json],
  ['application/json', json],
  ['application/json; charset=utf-8', json],
  ['Application/JSON', json],
  ['text/html, */*;q=0.8', json],
  ['application/graphql-response+json', modern],
  ['APPLICATION/GRAPHQL-RESPONSE+JSON;charset=UTF-8', modern],
  ['application/graphql-response+json, application/json', modern],
  ['application/json, application/graphql-response+json', modern],
  ['application/graphql-response+json, application/json;q=0.9', modern],
  ['application/graphql-response+json;q=0.9, application/json', json],
  ['application/graphql-response+json;q=0.5, */*;q=0.1', modern],
  ['application/graphql-response+json;q=0, application/json', json],
  ['application/graphql-response+json;q=0, */*', json],
  ['application/json;q=0, */*', modern],
  ['application/json;q=0.5, */*', modern],
  ['text/event-stream, application/json;q=0.001', json],
];

for (const [accept, mediaType] of accepted) {
  test(`Accept ${accept ?? 'absent'} is answered with ${mediaType}`, async () => {
    next = rawResponse('{"data":{}}');
    const { status, headers } = await sendRaw({ accept });
    assert.deepEqual([status, headers['content-type']], [200, mediaType]);
  });
}

/** `fetch` adds headers of its own, such as Accept; this sends only what it is told. */
function sendRaw(
  headers: Readonly<Record<string, string | undefined>>,
): Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; body: Buffer }> {
  const given = Object.entries({ apikey: server.anonKey, 'content-type': 'application/json', ...headers }).filter(
    ([, value]) => value !== undefined,
  );
  return new Promise((resolve, reject) => {
    const request = sendRequest(
      server.endpoint,
      { method: 'POST', headers: Object.fromEntries(given) as Record<string, string> },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }));
      },
    );
    request.on('error', reject);
    request.end('{"query":"{ __typename }"}');
  });
}

for (const accept of [
  'text/html',
  'application/xml, text/*',
  'application/json;q=0',
  '*/*;q=0',
  'application/json; charset=latin1',
  'application/json;q=x',
  'x',
]) {
  test(`Accept ${accept} is 406, and nothing runs`, async () => {
    const ran = server.calls.length;
    const response = await server.post({ headers: { accept } });
    assert.deepEqual([response.status, (await readError(response)).code], [406, 'NOT_ACCEPTABLE']);
    assert.equal(server.calls.length, ran);
  });
}

/** What the graph's codes become: for `application/json`, then for `application/graphql-response+json`. */
const statuses: Partial<Record<ErrorCode, readonly [number, number]>> = {
  GRAPHQL_PARSE_FAILED: [200, 400],
  GRAPHQL_VALIDATION_FAILED: [200, 400],
  OPERATION_RESOLUTION_FAILURE: [200, 400],
  BAD_USER_INPUT: [200, 400],
  QUERY_TOO_COMPLEX: [200, 400],
  UNAUTHENTICATED: [401, 401],
  DATABASE_UNAVAILABLE: [503, 503],
  OVERLOADED: [503, 503],
  INTERNAL_ERROR: [500, 500],
};

for (const code of Object.keys(errorCodes) as ErrorCode[]) {
  if (statuses[code] === undefined && errorCodes[code].status !== 200) continue;
  test(`a response of the graph with ${code} has the status of its media type`, async () => {
    const body = JSON.stringify({ errors: [{ message: 'x', extensions: { code } }] });
    next = rawResponse(body, code);
    const seen = [];
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const response = await server.post({ headers: { accept } });
      assert.equal(await response.text(), body);
      seen.push(response.status);
      // Nobody is told to send again what may have been done, as after OUTCOME_UNKNOWN.
      assert.equal(response.headers.has('retry-after'), response.status === 503);
    }
    assert.deepEqual(seen, statuses[code] ?? [200, 200]);
  });
}

test('what the graph throws is told as an internal error, and logged with the id of the request', async () => {
  next = new Error('password=hunter2 in /some/path.ts');
  for (const accept of ['application/json', 'application/graphql-response+json']) {
    const response = await server.post({ headers: { accept } });
    const id = response.headers.get('x-request-id') ?? '-';
    const { message, code } = await readError(response);
    assert.deepEqual([response.status, code], [500, 'INTERNAL_ERROR']);
    assert.ok(!message.includes('hunter2') && message.includes(id), message);
    assert.ok(server.log.some((line) => line.includes('hunter2') && line.includes(id)));
  }
});

test('an ApiError that the graph throws is told as it is', async () => {
  next = new ApiError('DATABASE_UNAVAILABLE', 'No connection.');
  const response = await server.post();
  assert.deepEqual([response.status, await readError(response)], [503, { message: 'No connection.', code: 'DATABASE_UNAVAILABLE' }]);
});

const rows = JSON.stringify({
  data: { list: Array.from({ length: 2000 }, (_, index) => ({ id: String(index), name: `Größe ${index % 7}` })) },
});
const decoders: Record<string, (bytes: Buffer) => Buffer> = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };

const encodings: readonly [acceptEncoding: string | undefined, encoding: string | undefined][] = [
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['deflate', undefined],
  ['gzip;q=0', undefined],
  ['gzip;q=0, *;q=0, br', 'br'],
  ['identity;q=0, gzip', 'gzip'],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['br', 'br'],
  ['zstd', 'zstd'],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br', 'br'],
  // Programs send this as browsers do, though the `fetch` of Node 20 and 22 does not decode zstd.
  ['gzip, deflate, br, zstd', 'br'],
  ['zstd, br, gzip', 'br'],
  ['zstd, gzip', 'gzip'],
  ['zstd, deflate', 'zstd'],
  ['zstd, br;q=0.9, gzip;q=0.9', 'zstd'],
  ['gzip, br;q=0.5', 'gzip'],
  ['zstd;q=0, *', 'br'],
  ['*', 'br'],
  ['*, br;q=0', 'gzip'],
];

for (const [acceptEncoding, encoding] of encodings) {
  test(`a large answer for Accept-Encoding ${acceptEncoding ?? 'absent'} is ${encoding ?? 'sent as it is'}`, async () => {
    next = rawResponse(rows);
    const { headers, body } = await sendRaw({ 'accept-encoding': acceptEncoding });
    assert.equal(headers['content-encoding'], encoding);
    assert.equal(headers['content-length'], String(body.length));
    assert.equal((encoding === undefined ? body : decoders[encoding]?.(body))?.toString(), rows);
    if (encoding !== undefined) assert.ok(body.length < rows.length / 4);
  });
}

for (const acceptEncoding of ['*;q=0', 'identity;q=0', 'identity;Q=0, deflate', 'deflate, *;q=0.000']) {
  test(`Accept-Encoding ${acceptEncoding} is 406, and nothing runs`, async () => {
    const ran = server.calls.length;
    const response = await server.post({ headers: { 'accept-encoding': acceptEncoding } });
    assert.deepEqual([response.status, (await readError(response)).code], [406, 'NOT_ACCEPTABLE']);
    assert.equal(server.calls.length, ran);
  });
}

test('whoever refuses answers as they are gets small ones compressed too, errors among them', async () => {
  for (const answer of ['{"data":{}}', '{"errors":[{"message":"No."}]}']) {
    next = answer.includes('errors') ? new ApiError('DATABASE_ERROR', 'No.') : rawResponse(answer);
    for (const acceptEncoding of ['gzip, identity;q=0', 'gzip, *;q=0']) {
      const { headers, body } = await sendRaw({ 'accept-encoding': acceptEncoding });
      assert.equal(headers['content-encoding'], 'gzip');
      assert.ok(gunzipSync(body).toString().startsWith(answer.slice(0, 10)));
    }
  }
});

test('every response says that it depends on Accept-Encoding', async () => {
  next = rawResponse('{"data":{}}');
  for (const apiKey of [server.anonKey, 'x']) {
    const { headers } = await sendRaw({ apikey: apiKey });
    assert.equal(headers.vary, 'Accept-Encoding');
  }
});

test('a response below the threshold is not compressed', async () => {
  next = rawResponse(`{"data":{"a":"${'x'.repeat(compressionThreshold - 18)}"}}`);
  assert.equal((await sendRaw({ 'accept-encoding': 'gzip' })).headers['content-encoding'], undefined);
  next = rawResponse(`{"data":{"a":"${'x'.repeat(compressionThreshold - 17)}"}}`);
  assert.equal((await sendRaw({ 'accept-encoding': 'gzip' })).headers['content-encoding'], 'gzip');
});

test('answers of many requests at once are not mixed up', async () => {
  const echo = await startTestServer({
    execute: async (request) => rawResponse(JSON.stringify({ data: { query: request.query, pad: 'x'.repeat(20_000) } })),
  });
  try {
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const query = `{ field${index} }`;
        const response = await echo.post({ body: { query }, headers: { 'accept-encoding': index % 2 ? 'gzip' : 'identity' } });
        assert.equal(((await response.json()) as { data: { query: string } }).data.query, query);
      }),
    );
  } finally {
    await echo.close();
  }
});
