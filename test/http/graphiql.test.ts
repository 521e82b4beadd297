/**
 * GraphiQL comes whole from this server: page, scripts and styles, with the key filled in. That it also works is seen by eye; here the page
 * is read as a browser would read it, and its script is run against stand-ins.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { readError, startTestServer, type TestServer } from './start-test-server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer({ graphiql: { anonKey: 'the-anon-key' }, basePath: '/api' });
});
after(() => server.close());

const readPage = async (): Promise<string> => (await fetch(`${server.url}/api/graphiql`)).text();

function findAssets(page: string): readonly string[] {
  return [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? '');
}

test('the page is HTML that nothing may be added to', async () => {
  const response = await fetch(`${server.url}/api/graphiql`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /connect-src 'self'(;|$)/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.ok(!/https?:|\*|unsafe-eval/.test(policy), 'no other origin');
  assert.ok(!/<script>|<style>| on[a-z]+=/.test(await response.text()), 'nothing inline');
});

test('whoever opens the server itself is led to the page', async () => {
  const response = await fetch(server.url, { redirect: 'manual' });
  assert.deepEqual([response.status, response.headers.get('location')], [302, '/api/graphiql']);
});

test('all that the page refers to is served from here, with its type', async () => {
  const assets = findAssets(await readPage()).filter((url) => url !== 'data:,');
  assert.deepEqual(assets.map((url) => url.replace('/api/graphiql/', '')).sort(), [
    'graphiql.css',
    'graphiql.js',
    'page.css',
    'page.js',
    'react-dom.js',
    'react.js',
  ]);
  for (const asset of assets) {
    const response = await fetch(server.url + asset);
    const text = await response.text();
    assert.equal(response.status, 200, asset);
    assert.equal(
      response.headers.get('content-type'),
      asset.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
    );
    assert.equal(response.headers.get('content-encoding'), 'gzip');
    assert.ok(text.length > 40, asset);
    // Links that a person may follow are text of scripts; what a style sheet or an import names would be loaded.
    if (asset.endsWith('.css')) assert.deepEqual(findLoaded(text), [], asset);
    const plain = await fetch(server.url + asset, { headers: { 'accept-encoding': 'identity' } });
    assert.deepEqual([plain.headers.get('content-encoding'), await plain.text()], [null, text]);
  }
});

/** What a browser would load because of a style sheet. */
function findLoaded(styles: string): readonly string[] {
  const urls = [...styles.matchAll(/url\(\s*["']?([^"')]*)/g)].map(([, url]) => url ?? '').filter((url) => !url.startsWith('data:'));
  return [...urls, ...(styles.match(/@import[^;]*/g) ?? [])];
}

/** Runs the page's scripts with stand-ins for the browser and React; resolves to what GraphiQL is rendered with. */
async function runPage(page: string, fetchInPage: unknown = undefined): Promise<Record<string, unknown>> {
  const script = await (await fetch(`${server.url}/api/graphiql/page.js`)).text();
  const settings = /<script type="application\/json" id="settings">(.*?)<\/script>/s.exec(page)?.[1];
  let rendered: Record<string, unknown> = {};
  const context = {
    document: { getElementById: (id: string) => (id === 'settings' ? { textContent: settings } : {}) },
    React: { createElement: (_type: unknown, properties: Record<string, unknown>) => properties },
    ReactDOM: { createRoot: () => ({ render: (properties: Record<string, unknown>) => (rendered = properties) }) },
    GraphiQL: {},
    Headers,
    fetch: fetchInPage,
  };
  runInNewContext(script, context);
  return rendered;
}

test('the anon key is filled in', async () => {
  const { defaultHeaders } = await runPage(await readPage());
  assert.deepEqual(JSON.parse(String(defaultHeaders)), { apiKey: 'the-anon-key' });
});

test('the page asks the endpoint, with the key unless the user gives another', async () => {
  const sent: { url: string; headers: Headers; body: string }[] = [];
  const fetchInPage = async (url: string, init: { headers: Headers; body: string }): Promise<unknown> => {
    sent.push({ url, ...init });
    return { json: async () => ({ data: 1 }) };
  };
  const { fetcher } = await runPage(await readPage(), fetchInPage);
  const ask = fetcher as (request: unknown, options?: unknown) => Promise<unknown>;
  assert.deepEqual(await ask({ query: '{ a }' }), { data: 1 });
  await ask({ query: '{ a }' }, { headers: { APIKEY: 'another', authorization: 'Bearer x' } });
  assert.deepEqual(
    sent.map(({ url, headers, body }) => [url, headers.get('apikey'), headers.get('authorization'), body]),
    [
      ['/api/graphql/v1', 'the-anon-key', null, '{"query":"{ a }"}'],
      ['/api/graphql/v1', 'another', 'Bearer x', '{"query":"{ a }"}'],
    ],
  );
});

test('a key cannot end the script element that it is in', async () => {
  const hostile = await startTestServer({ graphiql: { anonKey: '</script><script>alert(1)</script><!--' } });
  try {
    const page = await (await fetch(`${hostile.url}/graphiql`)).text();
    assert.ok(!page.includes('alert(1)</script>'));
    const { defaultHeaders } = await runPage(page);
    assert.deepEqual(JSON.parse(String(defaultHeaders)), { apiKey: '</script><script>alert(1)</script><!--' });
  } finally {
    await hostile.close();
  }
});

test('without a key the user fills it in, and without the setting there is no page', async () => {
  const open = await startTestServer({ graphiql: true });
  const closed = await startTestServer();
  try {
    const { defaultHeaders } = await runPage(await (await fetch(`${open.url}/graphiql`)).text());
    assert.deepEqual(JSON.parse(String(defaultHeaders)), { apiKey: '' });
    for (const path of ['/graphiql', '/graphiql/react.js']) {
      const response = await fetch(closed.url + path);
      assert.deepEqual([response.status, (await readError(response)).code], [404, 'NOT_FOUND']);
    }
  } finally {
    await open.close();
    await closed.close();
  }
});

test('nothing but the assets can be read below the page', async () => {
  for (const path of [
    '/api/graphiql/',
    '/api/graphiql/package.json',
    '/api/graphiql/../../package.json',
    '/api/graphiql/%2e%2e/package.json',
    '/api/graphiql/..%2fpackage.json',
  ]) {
    assert.equal((await fetch(server.url + path)).status, 404, path);
  }
});
