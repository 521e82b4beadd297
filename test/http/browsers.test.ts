/** Browsers of other origins: preflight requests and the headers that let a page read a response. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, startTestServer, type TestServer } from './start-test-server.ts';

let open: TestServer;
let limited: TestServer;
let closed: TestServer;
before(async () => {
  open = await startTestServer();
  limited = await startTestServer({ corsOrigins: ['https://app.example', 'https://other.example'] });
  closed = await startTestServer({ corsOrigins: [] });
});
after(() => Promise.all([open.close(), limited.close(), closed.close()]));

const preflight = (server: TestServer, origin: string): Promise<Response> =>
  server.post({
    method: 'OPTIONS',
    body: null,
    headers: {
      apiKey: undefined,
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'apikey,authorization,content-type',
    },
  });

test('a preflight request is answered without a key', async () => {
  const response = await preflight(open, 'https://app.example');
  assert.equal(response.status, 204);
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  assert.equal(response.headers.get('access-control-allow-methods'), 'GET, POST');
  assert.equal(response.headers.get('access-control-allow-headers'), 'apikey,authorization,content-type');
  assert.equal(response.headers.get('access-control-allow-credentials'), null);
  assert.ok(Number(response.headers.get('access-control-max-age')) > 0);
  assert.equal(open.calls.length, 0);
});

test('any page may read a response, errors included', async () => {
  for (const apiKey of [open.anonKey, 'x']) {
    const response = await open.post({ headers: { origin: 'https://app.example', apiKey } });
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.match(response.headers.get('access-control-expose-headers') ?? '', /x-request-id/);
    assert.equal(response.status, apiKey === 'x' ? 401 : 200);
    if (response.status === 200) assert.equal(await response.text(), answer);
  }
  const wrong = await open.post({ method: 'PUT', body: null, headers: { origin: 'https://app.example' } });
  assert.deepEqual([wrong.status, wrong.headers.get('access-control-allow-origin')], [405, '*']);
});

test('with a list of origins only these are let in', async () => {
  assert.equal((await preflight(limited, 'https://other.example')).headers.get('access-control-allow-origin'), 'https://other.example');
  assert.equal((await preflight(limited, 'https://evil.example')).headers.get('access-control-allow-origin'), null);
  const good = await limited.post({ headers: { origin: 'https://app.example' } });
  assert.deepEqual(
    [good.headers.get('access-control-allow-origin'), good.headers.get('vary')],
    ['https://app.example', 'Accept-Encoding, Origin'],
  );
  assert.equal((await limited.post({ headers: { origin: 'https://evil.example' } })).headers.get('access-control-allow-origin'), null);
});

test('without origins there are no such headers, and OPTIONS is a method like others', async () => {
  const response = await preflight(closed, 'https://app.example');
  assert.deepEqual(
    [response.status, response.headers.get('allow'), response.headers.get('access-control-allow-origin')],
    [405, 'GET, HEAD, POST', null],
  );
  const post = await closed.post({ headers: { origin: 'https://app.example' } });
  assert.deepEqual([post.status, post.headers.get('access-control-allow-origin')], [200, null]);
});

test('health and metrics are not for pages of other origins', async () => {
  for (const path of ['/health/live', '/health/ready', '/metrics']) {
    const response = await fetch(open.url + path, { headers: { origin: 'https://app.example' } });
    assert.deepEqual([response.status, response.headers.get('access-control-allow-origin')], [200, null]);
  }
});

test('an origin that no browser sends is refused at the start, with the one that it may stand for', async () => {
  await assert.rejects(startTestServer({ corsOrigins: ['https://App.example:443/'] }), {
    message: '"https://App.example:443/" is not an origin that browsers send. Write it like https://app.example.',
  });
  await assert.rejects(startTestServer({ corsOrigins: ['https://*.example'] }), { message: /Write it like https:\/\/example\.com\.$/ });
});
