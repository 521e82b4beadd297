/** What the makers of handlers refuse: each option that could not work, or would have no effect. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { createFetchHandler, type FetchHandlerOptions } from '../../src/http/transport/create-fetch-handler.ts';
import { createNodeHandler, type NodeHandlerOptions } from '../../src/http/transport/create-node-handler.ts';
import { answer, rawResponse, secret } from './start-test-server.ts';

const graph = { executeRaw: async () => rawResponse(answer) };
const makers: Readonly<Record<string, (options: unknown) => unknown>> = {
  createNodeHandler: (options) => createNodeHandler(graph, options as NodeHandlerOptions),
  createFetchHandler: (options) => createFetchHandler(graph, options as FetchHandlerOptions),
};

const limits = [Number.NaN, -1, 0, 1.5, '5', '1mb', null, []];
const times = [Number.NaN, -1, 0, '30s', null, []];
const switches = ['true', 'on', 1, 0, null];
const functions = [true, 'f', {}, null];
const lists = ['anon', 5, [5], [''], {}, null];
const secrets = ['', 5, null, Buffer.from(secret)];

/** Of all that both handlers have. */
const wrong: { readonly [Name in keyof Omit<NodeHandlerOptions, 'maxPipelinedRequests'>]-?: readonly unknown[] } = {
  jwtSecret: secrets,
  previousJwtSecret: secrets,
  jwtKeys: ['', 5, ['{}'], 'http://example.com/jwks.json', 'ftp://example.com/'],
  supabase: ['', 5, 'project', 'http://example.com'],
  jwtAudience: ['api', [], [5], null],
  jwtIssuer: ['https://example.com', [], [''], {}],
  jwtLeeway: [Number.NaN, -1, Infinity, '60s', 600_001],
  roleClaim: ['role', '', 5, ['.role']],
  tokenRoles: ['anon', [], [5], null],
  apiKeys: ['keys.json', [], null],
  revokedTokens: ['revoked.json', {}, null],
  agents: [true, {}, null, () => ({})],
  authenticate: functions,
  keyInUrl: switches,
  tokenCache: [...limits, Infinity, 1e9],
  bodyLimit: limits,
  persistedQueries: [...limits, Infinity, true, 1000],
  trustedDocuments: ['documents.json', ['{ a }'], new Map([['a', '{ a }']]), null],
  untrustedRoles: lists,
  serverTiming: switches,
  detailedEvents: switches,
  reservedStreams: switches,
  liveHeartbeat: times,
  initTimeout: times,
  beginTrace: functions,
  traceDatabase: switches,
  maxBatch: [...limits, true],
  cacheControl: ['', 5, 'private\nx: y', 'private;', 'for ever'],
  corsOrigins: ['https://example.com', [5], ['example.com'], ['https://example.com/'], null],
  rateLimit: [
    5,
    null,
    {},
    ...limits.map((max) => ({ max, windowMilliseconds: 1000 })),
    { max: 2 },
    { max: 2, windowMilliseconds: Infinity },
    { max: 2, window: 5 },
  ],
  redisUrl: ['', 5, 'http://example.com', 'localhost:6379'],
  trustProxy: ['', 'somewhere', 5, ['10.0.0.1'], null],
  requestTimeout: times,
  writeTimeout: times,
  maxRequests: limits,
  maxClientRequests: limits,
  maxBytesInFlight: limits,
  maxEventLoopDelay: times,
  observe: functions,
};

for (const [maker, make] of Object.entries(makers)) {
  for (const [name, values] of Object.entries(wrong))
    test(`${maker} refuses a wrong ${name}`, () => {
      for (const value of values)
        assert.throws(
          () => make({ jwtSecret: secret, [name]: value }),
          { name: 'TypeError', message: new RegExp(`option "${name}\\b.*\\.$`) },
          inspect({ [name]: value }),
        );
    });

  test(`${maker} refuses an option that does not exist, and what are no options`, () => {
    for (const name of ['revokedToken', 'ratelimit', 'constructor', '__proto__x'])
      assert.throws(() => make({ jwtSecret: secret, [name]: undefined }), {
        name: 'TypeError',
        message: new RegExp(`^There is no option "${name}"\\. The options are jwtSecret, .*rateLimit`),
      });
    for (const options of [undefined, null, secret, [secret]])
      assert.throws(() => make(options), { name: 'TypeError', message: /^The options are missing/ });
  });

  test(`${maker} accepts no limit where there need be none`, () => {
    const names = [
      'bodyLimit',
      'maxBatch',
      'requestTimeout',
      'writeTimeout',
      'maxRequests',
      'maxClientRequests',
      'maxBytesInFlight',
      'maxEventLoopDelay',
    ];
    make({ jwtSecret: secret, ...Object.fromEntries(names.map((name) => [name, Infinity])) });
    make({ jwtSecret: secret, previousJwtSecret: undefined, rateLimit: undefined, untrustedRoles: [], corsOrigins: [] });
  });
}

test('options of one handler are not taken for those of the other', () => {
  assert.throws(() => makers.createNodeHandler!({ jwtSecret: secret, clientAddress: () => '' }), /There is no option "clientAddress"/);
  assert.throws(
    () => makers.createFetchHandler!({ jwtSecret: secret, maxPipelinedRequests: 5 }),
    /There is no option "maxPipelinedRequests"/,
  );
  for (const value of limits)
    assert.throws(
      () => makers.createNodeHandler!({ jwtSecret: secret, maxPipelinedRequests: value }),
      /The option "maxPipelinedRequests" must be/,
    );
  for (const value of functions)
    assert.throws(() => makers.createFetchHandler!({ jwtSecret: secret, clientAddress: value }), /The option "clientAddress" must be/);
});

test('a secret is not repeated in an error', () => {
  for (const options of [{ jwtSecret: 1234567 }, { jwtSecret: secret, previousJwtSecret: ['1234567'] }])
    assert.throws(
      () => makers.createNodeHandler!(options),
      (error: Error) => /must be a string/.test(error.message) && !error.message.includes('1234567'),
    );
});

test('the promise of a graph is not a graph', () => {
  for (const promised of [Promise.resolve(graph), undefined, null, {}])
    for (const make of [createNodeHandler, createFetchHandler])
      assert.throws(() => make(promised as never, { jwtSecret: secret }), { name: 'TypeError', message: /await createRowgraph/ });
});
