/** The endpoint as a handler in servers of others: below a path, behind body parsers and wrappers, and when clients or frameworks interfere. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { signKey } from '../../src/auth/sign-key.ts';
import type { Event } from '../../src/events.ts';
import { createNodeHandler, type NodeHandler, type NodeHandlerOptions } from '../../src/http/transport/create-node-handler.ts';
import { connectRaw, rawRequest } from './raw-client.ts';
import { answer, brokenResponse, type Execute, rawResponse, readError, runUntilStopped, secret } from './start-test-server.ts';

type Mount = (handler: NodeHandler, request: IncomingMessage & { body?: unknown }, response: ServerResponse) => unknown;

const query = '{ __typename }';
const key = await signKey(secret, 'anon');
const headers = { apiKey: key, 'content-type': 'application/json' };
const servers: { close(): unknown; closeAllConnections?(): void }[] = [];
after(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections?.();
  }
});

interface Mounted {
  readonly url: string;
  readonly port: number;
  post(body?: unknown, more?: Readonly<Record<string, string>>): Promise<Response>;
  /** Resolves when so many requests are over. */
  untilFinished(count: number): Promise<void>;
}

/** Resolves when a list has so many elements, which others add. */
async function untilLength(list: readonly unknown[], length: number): Promise<void> {
  while (list.length < length) await new Promise((resolve) => setImmediate(resolve));
}

/** A server that mounts the handler over a graph which answers as `execute` says. */
async function mount(
  how: Mount,
  { execute = async () => rawResponse(answer), ...options }: Partial<NodeHandlerOptions> & { execute?: Execute } = {},
): Promise<Mounted> {
  const executeRaw: Execute = (request, caller, given = {}) => execute(request, caller, given);
  const finished: Event[] = [];
  const observe = (event: Event): void => {
    if (event.kind === 'request-finished') finished.push(event);
  };
  const handler = createNodeHandler({ executeRaw: executeRaw as never }, { jwtSecret: secret, observe, ...options });
  const server = createServer((request, response) => void how(handler, request, response)).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const post: Mounted['post'] = (body = { query }, more = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    });
  return { url, port, post, untilFinished: (count) => untilLength(finished, count) };
}

const plain: Mount = (handler, request, response) => handler(request, response);

/** As a body parser does it: reads all, and leaves what it made of it. */
const parsed =
  (parse: (text: string) => unknown, encoding: BufferEncoding = 'utf8'): Mount =>
  async (handler, request, response) => {
    let text = '';
    request.setEncoding(encoding);
    for await (const chunk of request) text += chunk;
    request.body = parse(text);
    handler(request, response);
  };

test('every path is the endpoint, with all that it does', async () => {
  const { url, post } = await mount(plain, { maxBatch: 2, cacheControl: 'private, max-age=5' });
  const response = await post();
  assert.deepEqual([response.status, await response.text()], [200, answer]);
  const batch = await post([{ query }, { query }]);
  assert.equal(await batch.text(), `[${answer},${answer}]`);
  const target = `${url}api/anything?query=${encodeURIComponent(query)}`;
  const got = await fetch(target, { headers: { apiKey: key } });
  assert.deepEqual([got.status, await got.text(), got.headers.get('cache-control')], [200, answer, 'private, max-age=5']);
  const again = await fetch(target, { headers: { apiKey: key, 'if-none-match': got.headers.get('etag')! } });
  assert.equal(again.status, 304);
  const head = await fetch(target, { method: 'HEAD', headers: { apiKey: key } });
  assert.deepEqual([head.status, await head.text()], [200, '']);
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
  });
  assert.equal(preflight.status, 204);
});

test('wrong requests get errors in the GraphQL format', async () => {
  const { url, post } = await mount(plain, { bodyLimit: 100 });
  assert.deepEqual(await readError(await fetch(url, { method: 'DELETE', headers })), {
    code: 'METHOD_NOT_ALLOWED',
    message: 'The endpoint supports only POST and, for queries, GET. Send the GraphQL request as the JSON body of a POST request.',
  });
  for (const [expected, response] of [
    ['BAD_REQUEST', await post('{')],
    ['BAD_REQUEST', await post('')],
    ['PAYLOAD_TOO_LARGE', await post({ query: 'x'.repeat(200) })],
    ['UNSUPPORTED_MEDIA_TYPE', await post('{}', { 'content-type': 'text/plain' })],
    ['UNAUTHENTICATED', await post({ query }, { apiKey: 'wrong' })],
    ['NOT_ACCEPTABLE', await post({ query }, { accept: 'text/html' })],
  ] as const)
    assert.equal((await readError(response)).code, expected);
});

test('repeated credentials are refused, although this server drops all but the first', async () => {
  const { port } = await mount(plain);
  for (const line of [`apikey: ${key}`, `content-type: application/json`]) {
    const client = await connectRaw(port, rawRequest(key, { lines: ['authorization: Bearer x', 'Authorization: Bearer y', line] }));
    const [refusal] = await client.answers(1);
    assert.deepEqual([refusal?.status, /was sent more than once/.test(refusal?.body ?? '')], [400, true]);
    client.socket.destroy();
  }
});

test('what a body parser has read is used', async () => {
  const seen: unknown[] = [];
  const execute: Execute = async (request) => {
    seen.push(request.variables);
    return rawResponse(answer);
  };
  const body = { query, variables: { __proto__: null, text: 'ü\u2028"', list: [1, null] } };
  for (const parse of [JSON.parse, String, (text: string) => Buffer.from(text)]) {
    const { post } = await mount(parsed(parse), { execute });
    const response = await post(body);
    assert.deepEqual([response.status, await response.text()], [200, answer]);
  }
  assert.deepEqual(seen, Array(3).fill({ text: 'ü\u2028"', list: [1, null] }));
  // Express decompresses bodies, and leaves the header.
  const inflated = await mount(parsed((text) => JSON.parse(gunzipSync(Buffer.from(text, 'latin1')).toString()), 'latin1'));
  assert.equal(await (await inflated.post(gzipSync(JSON.stringify(body)), { 'content-encoding': 'gzip' })).text(), answer);
  const batches = await mount(parsed(JSON.parse), { maxBatch: 2 });
  assert.equal(await (await batches.post([{ query }])).text(), `[${answer}]`);
});

const cyclic: Record<string, unknown> = {};
cyclic.itself = cyclic;
const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as unknown;
for (const [name, left, code] of [
  ['left nothing', undefined, 'INTERNAL_ERROR'],
  ['left null', null, 'INTERNAL_ERROR'],
  ['left a cycle', cyclic, 'INTERNAL_ERROR'],
  ['left what JSON has not', { query, variables: { n: 1n } }, 'INTERNAL_ERROR'],
  ['left what fails to become JSON', { query, variables: { toJSON: () => 'x'.repeat(2 ** 30) } }, 'INTERNAL_ERROR'],
  ['left nothing of a body', {}, 'BAD_REQUEST'],
  ['left a text that is not JSON', 'query=1', 'BAD_REQUEST'],
  ['left more than the limit', { query: 'x'.repeat(2000) }, 'PAYLOAD_TOO_LARGE'],
  ['left deep nesting', { query, variables: { deep } }, 'TOO_DEEP'],
] as const)
  test(`a body parser that ${name}: ${code}`, async () => {
    const { post } = await mount(
      parsed(() => left),
      { bodyLimit: 1000 },
    );
    const error = await readError(await post());
    assert.equal(error.code, code);
    if (code === 'INTERNAL_ERROR') assert.match(error.message, /^The body was read before rowgraph got the request.*set request\.body/);
  });

test('a body that was left alone is read, whatever was done to the stream', async () => {
  for (const prepare of [
    (request: IncomingMessage & { body?: unknown }) => (request.body = {}),
    (request: IncomingMessage) => request.setEncoding('utf8'),
    (request: IncomingMessage) => request.setEncoding('latin1'),
    (request: IncomingMessage) => request.pause(),
  ]) {
    const texts: unknown[] = [];
    const { post } = await mount(
      (handler, request, response) => {
        prepare(request);
        handler(request, response);
      },
      {
        execute: async (request) => {
          texts.push(request.query);
          return rawResponse(answer);
        },
      },
    );
    assert.equal((await post({ query: '{ ü }' })).status, 200);
    assert.deepEqual(texts, ['{ ü }']);
  }
});

test('a response that middleware has wrapped keeps its headers and ours', async () => {
  const { post } = await mount((handler, request, response) => {
    response.setHeader('vary', 'Cookie, accept-encoding');
    response.setHeader('x-powered-by', 'somebody');
    response.setHeader('cache-control', 'public');
    const writeHead = response.writeHead.bind(response);
    // Old middleware knows lists of pairs only.
    response.writeHead = ((status: number, ...rest: unknown[]) => {
      assert.deepEqual(rest, []);
      return writeHead(status);
    }) as never;
    const end = response.end.bind(response);
    response.end = ((chunk: string, encoding: BufferEncoding) => end(Buffer.from(chunk, encoding))) as never;
    handler(request, response);
  });
  const response = await post();
  assert.equal(await response.text(), answer);
  const named = ['vary', 'x-powered-by', 'cache-control', 'content-type'].map((name) => response.headers.get(name));
  assert.deepEqual(named, ['Accept-Encoding, Cookie', 'somebody', 'no-store', 'application/json; charset=utf-8']);
});

test('headers that were set before stay, and what both set is ours', async () => {
  const { post } = await mount((handler, request, response) => {
    response.setHeader('vary', 'Origin');
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    response.setHeader('content-type', 'text/html');
    handler(request, response);
  });
  const response = await post();
  assert.deepEqual(
    [response.headers.get('vary'), response.headers.getSetCookie(), response.headers.get('content-type')],
    ['Accept-Encoding, Origin', ['a=1', 'b=2'], 'application/json; charset=utf-8'],
  );
});

test('a framework that answers by itself, before or meanwhile, disturbs nothing', async () => {
  const finish: (() => void)[] = [];
  const execute: Execute = () => new Promise((resolve) => finish.push(() => resolve(rawResponse(answer))));
  const before = await mount(
    (handler, request, response) => {
      response.end('mine');
      handler(request, response);
    },
    { execute, maxRequests: 1 },
  );
  assert.equal(await (await before.post()).text(), 'mine');
  assert.equal(await (await before.post()).text(), 'mine');
  assert.equal(finish.length, 0);
  const responses: ServerResponse[] = [];
  const started = Promise.withResolvers<void>();
  const meanwhile = await mount(
    (handler, request, response) => {
      responses.push(response);
      handler(request, response);
    },
    {
      execute: (...given) => {
        started.resolve();
        return execute(...given);
      },
      maxRequests: 1,
    },
  );
  const first = meanwhile.post();
  await started.promise;
  responses[0]?.writeHead(504).end('too late');
  assert.equal(await (await first).text(), 'too late');
  assert.equal((await meanwhile.post()).status, 503, 'the first still runs');
  finish[0]?.();
  await meanwhile.untilFinished(2);
  const second = meanwhile.post();
  await untilLength(finish, 2);
  finish[1]?.();
  assert.equal(await (await second).text(), answer);
});

test('a response that cannot be sent is a defect that ends its connection, and the next request is served', async () => {
  let isBroken = true;
  const { post, untilFinished } = await mount(plain, {
    execute: async () => {
      const response = isBroken ? brokenResponse() : rawResponse(answer);
      isBroken = false;
      return response;
    },
    maxRequests: 1,
  });
  await assert.rejects(post(), TypeError);
  await untilFinished(1);
  assert.equal(await (await post()).text(), answer);
});

test('a client that hangs up stops its request and leaves its room to others', async () => {
  const { execute, started, stops } = runUntilStopped();
  const { port, post, untilFinished } = await mount(plain, { execute, maxRequests: 1 });
  const client = await connectRaw(port, rawRequest(key));
  await started;
  assert.equal((await post()).status, 503);
  client.socket.destroy();
  await untilFinished(2);
  assert.deepEqual(stops, ['abandoned']);
  // In the middle of its body, and with a body that is not HTTP.
  for (const body of ['{"query":', 'no chunk at all\r\n']) {
    const lines = body.startsWith('{') ? 'content-length: 100' : 'transfer-encoding: chunked';
    const broken = await connectRaw(
      port,
      `POST / HTTP/1.1\r\nhost: x\r\napikey: ${key}\r\ncontent-type: application/json\r\n${lines}\r\n\r\n${body}`,
    );
    broken.socket.destroySoon();
  }
  await untilFinished(4);
  assert.equal((await post({ query }, { prefer: 'wait=0.01' })).status, 200);
});

test('pipelined requests are answered in order, and too many close the connection', async () => {
  const { port } = await mount(plain, { execute: async (request) => rawResponse(`{"data":${request.query}}`), maxPipelinedRequests: 5 });
  const requests = Array.from({ length: 5 }, (_, index) => rawRequest(key, { body: `{"query":"${index}"}` }));
  const client = await connectRaw(port, requests.join(''));
  const answers = await client.answers(5);
  assert.deepEqual(
    answers.map(({ body }) => body),
    requests.map((_, index) => `{"data":${index}}`),
  );
  client.socket.destroy();
  const greedy = await connectRaw(port, requests.join('').repeat(30));
  assert.ok((await greedy.closed()).length <= 5);
});

test('nothing is served after a request for another protocol, behind which Node loses its place', async () => {
  const queries: string[] = [];
  const gate = Promise.withResolvers<void>();
  const execute: Execute = async (request) => {
    queries.push(request.query);
    await gate.promise;
    return rawResponse(answer);
  };
  const { port } = await mount(plain, { execute });
  const inner = rawRequest(key, { body: '{"query":"{ inner }"}' });
  const outer = rawRequest(key, { body: ` ${inner}` });
  const client = await connectRaw(port, rawRequest(key, { lines: ['upgrade: x', 'connection: upgrade'] }) + outer.slice(0, -inner.length));
  while (queries.length === 0) await new Promise(setImmediate);
  client.socket.write(inner);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  gate.resolve();
  const answers = await client.closed();
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get('connection')]),
    [[200, 'close']],
  );
  assert.equal(queries.length, 1);
});

test('a refused request for another protocol ends its connection', async () => {
  const { port } = await mount(plain);
  const lines = ['upgrade: h2c', 'connection: Upgrade, HTTP2-Settings', 'http2-settings: AAMAAABkAAQAoAAAAAIAAAAA'];
  const client = await connectRaw(port, rawRequest('', { lines }));
  const answers = await client.closed();
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get('connection')]),
    [[401, 'close']],
  );
});

test('a server of HTTP/2 mounts it too', async () => {
  const handler = createNodeHandler({ executeRaw: async () => rawResponse(answer) }, { jwtSecret: secret });
  const server = createHttp2Server((request, response) => handler(request as never, response as never)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  servers.unshift(session);
  for (const [method, status] of [
    ['POST', 200],
    ['PUT', 405],
  ] as const) {
    const stream = session.request({ ':method': method, ':path': '/graphql', apikey: key, 'content-type': 'application/json' });
    stream.end(JSON.stringify({ query }));
    const [head] = await once(stream, 'response');
    assert.equal(head[':status'], status);
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    if (status === 200) assert.equal(text, answer);
  }
});

test('a trace that cannot be read is none, and a defect', async () => {
  const events: Event[] = [];
  const observe = (event: Event): void => void events.push(event);
  const beginTrace = ({ traceparent }: Readonly<Record<string, string | string[] | undefined>>) => {
    if (traceparent === undefined) throw new Error('no traceparent');
    return Promise.reject(new Error('later')) as never;
  };
  const { post } = await mount(plain, { observe, beginTrace, detailedEvents: true, traceDatabase: true, maxRequests: 1 });
  assert.equal((await post()).status, 200);
  assert.equal((await post({ query }, { traceparent: 'x' })).status, 200);
  await untilLength(events, 6);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'defect-found' ? [String(event.error)] : [])),
    [
      'Error: The function "beginTrace" failed: no traceparent',
      'Error: The function "beginTrace" failed: it must return its value, not a promise',
    ],
  );
  const finished = events.filter(({ kind }) => kind === 'request-finished') as Extract<Event, { kind: 'request-finished' }>[];
  assert.deepEqual(
    finished.map(({ details }) => details?.trace),
    [null, null],
  );
});

test('an observer that fails changes nothing', async () => {
  const warned = once(process, 'warning');
  let count = 0;
  const observe = (): void => {
    count += 1;
    throw new Error('no disk');
  };
  const { post } = await mount(plain, { observe, maxRequests: 1 });
  for (let request = 1; request <= 3; request += 1) {
    assert.equal((await post()).status, 200);
    while (count < 2 * request) await new Promise((resolve) => setImmediate(resolve));
  }
  const [warning] = (await warned) as [Error];
  assert.match(warning.message, /^The function "observe" failed; .* Error: no disk/);
});

test('a proxy on a Unix socket is trusted as one on 127.0.0.1 is', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-'));
  const socketPath = path.join(folder, 'socket');
  const ask = async (trustProxy: string): Promise<(number | undefined)[]> => {
    const options = { jwtSecret: secret, trustProxy, rateLimit: { max: 1, windowMilliseconds: 3_600_000 } };
    const server = createServer(createNodeHandler({ executeRaw: async () => rawResponse(answer) }, options)).listen(socketPath);
    await once(server, 'listening');
    const statuses = [];
    for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) {
      const asking = request({ socketPath, method: 'POST', headers: { ...headers, 'x-forwarded-for': client }, agent: false });
      asking.end(JSON.stringify({ query }));
      const [response] = (await once(asking, 'response')) as [IncomingMessage];
      statuses.push(response.resume().statusCode);
    }
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    return statuses;
  };
  assert.deepEqual(await ask('loopback'), [200, 200, 429]);
  assert.deepEqual(await ask('10.0.0.0/8'), [200, 429, 429]);
  await rm(folder, { recursive: true });
});

test('documents may be trusted by a plain object, whose names are its own', async () => {
  const trustedDocuments = JSON.parse(`{"a": "{ a }", "__proto__": "{ p }", "get": "{ g }"}`) as Record<string, string>;
  const texts: string[] = [];
  const execute: Execute = async (request) => {
    texts.push(request.query);
    return rawResponse(answer);
  };
  const { post } = await mount(plain, { execute, trustedDocuments, untrustedRoles: [] });
  for (const documentId of ['a', '__proto__', 'get']) assert.equal((await post({ documentId })).status, 200);
  assert.deepEqual(texts, ['{ a }', '{ p }', '{ g }']);
  for (const documentId of ['constructor', 'hasText', 'toString'])
    assert.equal((await readError(await post({ documentId }))).code, 'UNTRUSTED_DOCUMENT');
  assert.equal((await readError(await post({ query: '{ b }' }))).code, 'UNTRUSTED_DOCUMENT');
});

for (const [name, options, message] of [
  ['no way to verify tokens', {}, /A JWT secret, public keys, API keys or the function "authenticate" is required/],
  ['an empty secret', { jwtSecret: '' }, /^TypeError: The option "jwtSecret" must be a string that is not empty\.$/],
  ['keys that are none', { jwtKeys: 'none' }, /^Error: jwtKeys is neither PEM nor JSON$/],
  ['two sources of keys', { jwtKeys: '{}', supabase: 'abcdefghijklmnopqrst' }, /omit jwtKeys/],
  [
    'a path of a claim that is none',
    { jwtSecret: secret, roleClaim: 'role' },
    /^TypeError: The option "roleClaim" must be a path such as .*; it is "role"\.$/,
  ],
  [
    'a proxy that is no address',
    { jwtSecret: secret, trustProxy: 'somewhere' },
    /^TypeError: The option "trustProxy" is wrong: "somewhere" is not a proxy address/,
  ],
] as const)
  test(`${name}: an error at once`, () => {
    assert.throws(() => createNodeHandler({ executeRaw: async () => rawResponse(answer) }, options), message);
  });
