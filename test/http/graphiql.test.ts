/**
 * GraphiQL comes whole from this server: page, scripts and styles, with the key filled in. Here the page
 * is read as a browser would read it. `npm run test:page` opens it in a browser.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { bundleGraphiql } from '../../graphiql/bundle.ts';
import { createFetcher } from '../../graphiql/page/fetcher.ts';
import type { Exchange } from '../../graphiql/page/last-exchange.ts';
import type { GraphiqlSettings } from '../../src/http/routes/graphiql-page.ts';
import { createGraphiqlRoutes } from '../../src/http/routes/graphiql-routes.ts';
import { readError, startTestServer, type TestServer } from './start-test-server.ts';

let server: TestServer;
before(async () => {
  await bundleGraphiql();
  server = await startTestServer({ graphiql: { anonKey: 'the-anon-key' }, basePath: '/api' });
});
after(() => server.close());

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.ttf': 'font/ttf',
};

const readPage = async (): Promise<string> => (await fetch(`${server.url}/api/graphiql`)).text();

function findAssets(page: string): readonly string[] {
  return [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? '');
}

/** What the page tells its script. */
function readSettings(page: string): GraphiqlSettings {
  return JSON.parse(/<script type="application\/json" id="settings">(.*?)<\/script>/s.exec(page)?.[1] ?? '') as GraphiqlSettings;
}

test('the page is HTML that nothing may be added to', async () => {
  const response = await fetch(`${server.url}/api/graphiql`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /worker-src 'self'(;|$)/);
  assert.match(policy, /connect-src 'self'(;|$)/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.ok(!/https?:|\*|unsafe-eval/.test(policy), 'no other origin');
  assert.ok(!/<script>|<style>| on[a-z]+=/.test(await response.text()), 'nothing inline');
});

test('whoever opens the server itself is led to the page', async () => {
  const response = await fetch(server.url, { redirect: 'manual' });
  assert.deepEqual([response.status, response.headers.get('location')], [302, '/api/graphiql']);
});

test('all that the page loads is served from here, with its type', async () => {
  const assets = new Set(findAssets(await readPage()).filter((url) => !url.startsWith('data:')));
  assert.deepEqual([...assets], ['/api/graphiql/skeleton.css', '/api/graphiql/page.css', '/api/graphiql/page.js']);
  for (const worker of ['editor', 'graphql', 'json']) assets.add(`/api/graphiql/${worker}.worker.js`);
  // Grows while it is walked: each script names those that it imports.
  for (const asset of assets) {
    const response = await fetch(server.url + asset);
    const text = await response.text();
    assert.equal(response.status, 200, asset);
    assert.equal(response.headers.get('content-type'), types[path.extname(asset)]);
    assert.equal(response.headers.get('content-encoding'), 'gzip');
    assert.ok(text.length > 40, asset);
    assert.ok(!text.includes('sourceMappingURL'), asset);
    for (const url of asset.endsWith('.css') ? findLoaded(text) : findImported(text)) assets.add(new URL(url, server.url + asset).pathname);
    for (const encoding of ['br', null]) {
      const other = await fetch(server.url + asset, { headers: { 'accept-encoding': encoding ?? 'identity' } });
      assert.deepEqual([other.headers.get('content-encoding'), await other.text()], [encoding, text]);
    }
  }
  assert.ok(assets.size > 10, 'scripts import others');
});

/** What a script imports, at once or later. In the bundle that is always a file beside it. */
function findImported(script: string): readonly string[] {
  return [...script.matchAll(/\b(?:import|from)\s*\(?\s*"(\.\/[^"]+\.js|https?:[^"]+)"/g)].map(([, url]) => url ?? '');
}

/** What a browser would load because of a style sheet. */
function findLoaded(styles: string): readonly string[] {
  const urls = [...styles.matchAll(/url\(\s*["']?([^"')]*)/g)].map(([, url]) => url ?? '').filter((url) => !url.startsWith('data:'));
  return [...urls, ...(styles.match(/@import[^;]*/g) ?? [])];
}

test('the page tells its script where the endpoint is, and the anon key', async () => {
  const settings = readSettings(await readPage());
  assert.deepEqual(settings, {
    endpoint: '/api/graphql/v1',
    anonKey: 'the-anon-key',
    operations: [],
    backend: null,
    operationFolder: null,
  });
});

test('the page asks the endpoint as the caller, unless the user writes other headers', async (context) => {
  const headers = { 'content-type': 'application/json', 'server-timing': 'total;dur=2' };
  const fetchInPage = context.mock.method(globalThis, 'fetch', async () => new Response('{"data":1}', { headers }));
  const exchanges: (Exchange | null)[] = [];
  const headersOfCaller = async () => ({ apiKey: 'the-anon-key' });
  const ask = createFetcher({ endpoint: '/api/graphql/v1', headersOfCaller, onExchange: (exchange) => exchanges.push(exchange) });
  assert.deepEqual(await ask({ query: '{ a }' }), { data: 1 });
  await ask({ query: '{ a }' }, { headers: { APIKEY: 'another', authorization: 'Bearer x' } });
  await ask({ query: '{ __schema { a } }', operationName: 'IntrospectionQuery' });
  const sent = fetchInPage.mock.calls.map(({ arguments: [url, init] }) => {
    const headers = new Headers(init?.headers);
    return [url, headers.get('apikey'), headers.get('authorization'), init?.body];
  });
  assert.deepEqual(sent.slice(0, 2), [
    ['/api/graphql/v1', 'the-anon-key', null, '{"query":"{ a }"}'],
    ['/api/graphql/v1', 'another', 'Bearer x', '{"query":"{ a }"}'],
  ]);
  assert.deepEqual(
    exchanges.map((exchange) => [exchange?.requestHeaders.apikey, exchange?.status, exchange?.bytes]),
    [
      ['the-anon-key', 200, 10],
      ['another', 200, 10],
    ],
  );
  fetchInPage.mock.mockImplementation(async () => new Response('<html>', { status: 502 }));
  assert.match(JSON.stringify(await ask({ query: '{ a }' })), /"errors":.*status 502 is not from rowgraph.*<html>/);
  fetchInPage.mock.mockImplementation(async () => {
    throw new TypeError('Failed to fetch');
  });
  assert.match(JSON.stringify(await ask({ query: '{ a }' })), /"errors":.*The server does not respond/);
});

test('a token that the server takes no more is signed anew, once', async (context) => {
  const keys: (string | null)[] = [];
  context.mock.method(globalThis, 'fetch', async (_url: string, init: RequestInit) => {
    const key = new Headers(init.headers).get('apikey');
    keys.push(key);
    return key === 'new' ? Response.json({ data: 1 }) : Response.json({ errors: [{ message: 'expired' }] }, { status: 401 });
  });
  const options = { endpoint: '/graphql/v1', onExchange: () => undefined };
  const ask = createFetcher({ ...options, headersOfCaller: async (wasRefused) => ({ apiKey: wasRefused ? 'new' : 'old' }) });
  assert.deepEqual(await ask({ query: '{ a }' }), { data: 1 });
  const askAsPasted = createFetcher({ ...options, headersOfCaller: async () => ({ apiKey: 'pasted' }) });
  assert.deepEqual(await askAsPasted({ query: '{ a }' }), { errors: [{ message: 'expired' }] });
  assert.deepEqual(keys, ['old', 'new', 'pasted']);
});

test('a key cannot end the script element that it is in', async () => {
  const anonKey = '</script><script>alert(1)</script><!--';
  const hostile = await startTestServer({ graphiql: { anonKey } });
  try {
    const page = await (await fetch(`${hostile.url}/graphiql`)).text();
    assert.ok(!page.includes('alert(1)</script>'));
    assert.equal(readSettings(page).anonKey, anonKey);
  } finally {
    await hostile.close();
  }
});

test('without a key the user fills it in, and without the setting there is no page', async () => {
  const open = await startTestServer({ graphiql: true });
  const closed = await startTestServer();
  try {
    const settings = readSettings(await (await fetch(`${open.url}/graphiql`)).text());
    assert.equal(settings.anonKey, null);
    for (const path of ['/graphiql', '/graphiql/page.js']) {
      const response = await fetch(closed.url + path);
      assert.deepEqual([response.status, (await readError(response)).code], [404, 'NOT_FOUND']);
    }
  } finally {
    await open.close();
    await closed.close();
  }
});

test('a page that was not built says how to build it', async () => {
  const routes = createGraphiqlRoutes(
    '/graphiql',
    { endpoint: '/graphql/v1', anonKey: null, operations: [], backend: null, operationFolder: null },
    new URL('./missing/', import.meta.url),
  );
  assert.deepEqual(
    routes.map(([path]) => path),
    ['/graphiql'],
  );
  const { status, body } = await routes[0]![1](undefined as never);
  assert.equal(status, 503);
  assert.match(String(body), /npm run build:graphiql/);
});

test('nothing but the assets can be read below the page', async () => {
  for (const path of [
    '/api/graphiql/',
    '/api/graphiql/made-of.txt',
    '/api/graphiql/page.js.br',
    '/api/graphiql/package.json',
    '/api/graphiql/../../package.json',
    '/api/graphiql/%2e%2e/package.json',
    '/api/graphiql/..%2fpackage.json',
  ]) {
    assert.equal((await fetch(server.url + path)).status, 404, path);
  }
});
