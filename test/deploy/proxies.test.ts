/**
 * The configurations of deploy/ for proxies, as they are but for ports and certificates, in front of a server: HTTP/2 over TLS, addresses of clients, large bodies,
 * clients that leave. Each runs where its proxy is on the path.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type RequestOptions, request as sendHttps } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { LiveGraph } from '../http/live-graph.ts';
import { connectSocket } from '../http/socket-client.ts';
import { rawResponse, startTestServer, type TestServer } from '../http/start-test-server.ts';
import { address, isInstalled, nginxIn, type Proxy, startProxy, stopProxy } from './start-proxy.ts';

const run = promisify(execFile);
const deploy = path.join(import.meta.dirname, '../../deploy');
const name = 'api.example.com';
const large = JSON.stringify({ data: { text: Array.from({ length: 200_000 }, (_, index) => String(index)).join(' ') } });

let folder: string;
let certificate: Buffer;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-proxies-'));
});
after(() => rm(folder, { recursive: true }));

const proxies: readonly Proxy[] = [
  {
    command: 'nginx',
    flags: nginxIn('.', '').flags,
    prepare: async ({ own, server }) => {
      const site = replaceAll(await readFile(path.join(deploy, 'nginx.conf'), 'utf8'), {
        'listen 443 ssl http2;': `listen ${address}:${own} ssl http2;`,
        'server 127.0.0.1:4000;': `server 127.0.0.1:${server};`,
        '/etc/ssl/rowgraph/certificate.pem': path.join(folder, 'certificate.pem'),
        '/etc/ssl/rowgraph/key.pem': path.join(folder, 'key.pem'),
      });
      await writeFile(path.join(folder, 'site.conf'), site);
      await writeFile(path.join(folder, 'nginx-main.conf'), nginxIn(folder, 'include site.conf;').file);
    },
  },
  {
    command: 'caddy',
    flags: ['run', '--config', 'Caddyfile', '--adapter', 'caddyfile'],
    prepare: async ({ own, server }) => {
      const site = replaceAll(await readFile(path.join(deploy, 'Caddyfile'), 'utf8'), {
        [`\n${name} {`]: `\nhttps://${name}:${own} {\n\tbind ${address}\n\ttls ${folder}/certificate.pem ${folder}/key.pem`,
        'reverse_proxy 127.0.0.1:4000 {': `reverse_proxy 127.0.0.1:${server} {`,
      });
      await writeFile(path.join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
    },
  },
];

/** The text with each of the parts, which must be in it once, replaced. */
function replaceAll(text: string, parts: Readonly<Record<string, string>>): string {
  let replaced = text;
  for (const [part, by] of Object.entries(parts)) {
    assert.equal(replaced.split(part).length, 2, part);
    replaced = replaced.replace(part, by);
  }
  return replaced;
}

async function makeCertificate(): Promise<void> {
  const files = ['-keyout', path.join(folder, 'key.pem'), '-out', path.join(folder, 'certificate.pem')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-days', '2'];
  await run('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...files, ...subject]);
  certificate = await readFile(path.join(folder, 'certificate.pem'));
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

for (const proxy of proxies) {
  const { command } = proxy;
  const isThere = (await isInstalled(command, command === 'nginx' ? '-v' : 'version')) && (await isInstalled('openssl', 'version'));
  const skip = isThere ? false : `there is no ${command} or no openssl on the path, or this is not Linux`;
  describe(command, { skip }, () => {
    let server: TestServer;
    let port: number;
    let child: ChildProcess;
    const graph = new LiveGraph();
    const left = Promise.withResolvers<unknown>();
    const began = Promise.withResolvers<void>();

    before(async () => {
      await mkdir(folder, { recursive: true });
      if (certificate === undefined) await makeCertificate();
      server = await startTestServer({
        trustProxy: '127.0.0.1',
        cacheControl: 'private, max-age=1',
        subscribeRaw: graph.subscribeRaw,
        execute: async ({ query }, _caller, { deadline }) => {
          if (query === '{ large }') return rawResponse(large);
          if (query !== '{ wait }') return rawResponse('{"data":{}}');
          began.resolve();
          left.resolve(await new Promise((resolve) => deadline?.onStop(resolve)));
          return rawResponse('{"data":null}', 'CANCELLED');
        },
      });
      ({ port, child } = await startProxy(proxy, folder, server.port));
    });
    after(async () => {
      await stopProxy(child);
      await server?.close();
    });

    /** A request by HTTP/1.1 over TLS, from one of the addresses of this machine. */
    function send(options: RequestOptions & { readonly body?: string } = {}): Promise<Answer> {
      const { body, headers = {}, ...rest } = options;
      const all = { host: name, apiKey: server.anonKey, 'content-type': 'application/json', ...(headers as Record<string, string>) };
      return new Promise((resolve, reject) => {
        const target = { host: address, port, servername: name, ca: certificate, method: 'POST', path: '/graphql/v1', agent: false };
        const request = sendHttps({ ...target, ...rest, headers: all }, async (response) => {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
        });
        request.on('error', reject);
        request.end(body);
      });
    }

    const post = (query: string, options: RequestOptions = {}): Promise<Answer> => send({ ...options, body: JSON.stringify({ query }) });
    const clientOf = (): string | undefined => server.calls.at(-1)?.options.client;

    test('HTTP/2 over TLS', async (context: TestContext) => {
      const session = connectHttp2(`https://${name}:${port}`, {
        createConnection: () => connectTls({ host: address, port, servername: name, ca: certificate, ALPNProtocols: ['h2'] }),
      });
      context.after(() => session.destroy());
      const answers = await Promise.all(
        ['{ a }', '{ large }', '{ b }'].map(async (query) => {
          const stream = session.request({
            ':method': 'POST',
            ':path': '/graphql/v1',
            apikey: server.anonKey,
            'content-type': 'application/json',
          });
          stream.end(JSON.stringify({ query }));
          const [headers] = await once(stream, 'response');
          const chunks: Buffer[] = [];
          for await (const chunk of stream) chunks.push(chunk);
          return [headers[':status'], Buffer.concat(chunks).toString()];
        }),
      );
      assert.deepEqual(
        answers.map(([status]) => status),
        [200, 200, 200],
      );
      assert.ok(answers[1]?.[1] === large);
    });

    test('a client is counted by the address that it has, whatever it says of itself', async () => {
      for (const localAddress of ['127.0.0.2', '127.0.0.3']) {
        for (const forwarded of [undefined, '203.0.113.7', '203.0.113.7, 127.0.0.1', '127.0.0.1', 'x', `for=203.0.113.7`]) {
          const headers =
            forwarded === undefined ? {} : { 'x-forwarded-for': forwarded, forwarded: `for=${forwarded}`, 'x-real-ip': forwarded };
          const answer = await post('{ a }', { localAddress, headers });
          assert.equal(answer.status, 200);
          assert.equal(clientOf(), `anon at ${localAddress}`, forwarded);
          assert.match(String(answer.headers['x-request-id']), /^[\da-f-]{32,36}$/);
        }
      }
    });

    test('compression, tags and Cache-Control are those of rowgraph', async () => {
      const compressed = await post('{ large }', { headers: { 'accept-encoding': 'br' } });
      assert.equal(compressed.headers['content-encoding'], 'br');
      assert.ok(brotliDecompressSync(compressed.body).toString() === large);
      assert.ok((await post('{ large }')).body.toString() === large);
      const get = { method: 'GET', path: '/graphql/v1?query=%7Ba%7D' };
      const first = await send(get);
      assert.deepEqual([first.status, first.headers['cache-control']], [200, 'private, max-age=1']);
      const again = await send({ ...get, headers: { 'if-none-match': String(first.headers.etag) } });
      assert.deepEqual([again.status, again.body.length], [304, 0]);
    });

    test('what is not for the public is not there, and a body that is too large does not arrive', async () => {
      for (const hidden of ['/metrics', '/health/ready', '/graphiql', '/', '/graphql/v1/x', '/graphql/v1/../../metrics', '/%6detrics'])
        assert.equal((await send({ method: 'GET', path: hidden })).status, 404, hidden);
      const ran = server.calls.length;
      // The connection may end while the body is still being sent.
      const body = JSON.stringify({ query: `{ a } #${'x'.repeat(1_100_000)}` });
      const status = await send({ body }).then(
        (answer) => answer.status,
        () => 413,
      );
      assert.ok(status >= 400, String(status));
      assert.equal(server.calls.length, ran);
      assert.equal((await post('{ a }')).status, 200);
    });

    for (const [accept, second] of [
      ['text/event-stream', /data: \{"data":\{"n":2\}\}\n\n$/],
      ['multipart/mixed;subscriptionSpec=1.0, application/json', /\{"payload":\{"data":\{"n":2\}\}\}\r\n--graphql$/],
    ] as const)
      test(`answers arrive as they come: ${accept}`, async () => {
        const headers = { host: name, apiKey: server.anonKey, accept, 'accept-encoding': 'gzip, br' };
        const target = { host: address, port, servername: name, ca: certificate, path: '/graphql/v1?query=subscription{a}', agent: false };
        const request = sendHttps({ ...target, headers }).end();
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        let text = '';
        for await (const chunk of response) {
          text += String(chunk);
          if (/"role":"anon"/.test(text) && !text.includes('"n":2')) graph.publish({ n: 2 });
          if (second.test(text)) break;
        }
        await graph.until(0);
      });

    test('WebSockets pass', async () => {
      const options = { servername: name, ca: certificate, headers: { host: name, origin: `https://${name}` } };
      const client = await connectSocket(`https://${address}:${port}/graphql/v1`, { apikey: server.anonKey }, options);
      client.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { a }' } });
      assert.equal((await client.next()).payload.data.role, 'anon');
      graph.publish({ n: 2 });
      assert.deepEqual((await client.next()).payload, { data: { n: 2 } });
      client.socket.terminate();
      await graph.until(0);
    });

    test('a request ends when its client leaves', async () => {
      const socket = connectTls({ host: address, port, servername: name, ca: certificate });
      await once(socket, 'secureConnect');
      const body = '{"query":"{ wait }"}';
      socket.write(
        `POST /graphql/v1 HTTP/1.1\r\nHost: ${name}\r\napiKey: ${server.anonKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await began.promise;
      socket.destroy();
      assert.equal(await left.promise, 'abandoned');
    });
  });
}
