/** What rowgraph needs of Node beyond its documentation, or of what Node calls experimental. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage, type ServerOptions } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer, Server as PlainServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { PgSocket } from '../../src/database/wire/pg-client.ts';
import { writeBody } from '../../src/http/transport/node-exchange.ts';
import { contract } from './contract.ts';

/** What a server has to say to a request that is written to it as it is. */
async function serve(options: ServerOptions, request: string, onRequest: (request: IncomingMessage) => string): Promise<string> {
  const server = createServer(options, (incoming, response) => response.end(onRequest(incoming)));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => socket.end(`clientError ${error.code}`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(request);
  const answer = await text(socket);
  server.close();
  return answer;
}

contract('node', 'http/transport/check-head.ts', 'joinDuplicateHeaders joins every repeated header with a comma', async () => {
  const names = ['host', 'apikey', 'content-type', 'authorization'] as const;
  const repeated = names.flatMap((name) => [`${name}: a`, `${name}: b`]).join('\r\n');
  const request = `GET / HTTP/1.1\r\n${repeated}\r\nconnection: close\r\n\r\n`;
  const options = { joinDuplicateHeaders: true, requireHostHeader: false };
  const answer = await serve(options, request, ({ headers }) => JSON.stringify(names.map((name) => headers[name])));
  assert.deepEqual(JSON.parse(answer.split('\r\n\r\n')[1]!), ['a, b', 'a, b', 'a, b', 'a, b']);
});

contract('node', 'http/transport/broken-request.ts', 'the parser has these codes for what it rejects', async () => {
  const long = `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`;
  assert.equal(await serve({}, long, () => ''), 'clientError HPE_HEADER_OVERFLOW');
  assert.equal(await serve({}, 'GET / HTTP/3.0\r\nhost: a\r\n\r\n', () => ''), 'clientError HPE_INVALID_VERSION');
  assert.equal(await serve({}, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', () => ''), 'clientError HPE_PAUSED_H2_UPGRADE');
  const timeouts = { headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 5 };
  assert.equal(await serve(timeouts, 'GET / HTTP/1.1\r\n', () => ''), 'clientError ERR_HTTP_REQUEST_TIMEOUT');
});

contract(
  'node',
  'http/transport/connections.ts',
  'the close of a plain server leaves the idle connections of an HTTP server open',
  async () => {
    const server = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const ask = async (): Promise<string> => {
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      return String((await once(socket, 'data'))[0]);
    };
    await ask();
    const closed = once(server, 'close');
    PlainServer.prototype.close.call(server);
    assert.match(await ask(), /^HTTP\/1\.1 200 OK/);
    const ended = once(socket, 'end');
    server.closeIdleConnections();
    await Promise.all([ended, closed]);
    server.close(() => undefined);
  },
);

contract(
  'node',
  'http/transport/connection.ts',
  'at CONNECT, Node stops listening to a socket; earlier responses go on with a drain',
  async () => {
    const long = Buffer.alloc(30_000_000);
    const server = createServer((_request, response) => {
      response.write(long);
      response.on('drain', () => response.end());
      server.on('connect', (_connect, socket) => {
        assert.equal(socket.listenerCount('drain'), 0);
        socket.on('drain', () => response.emit('drain'));
        response.on('finish', () => socket.end());
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\nCONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n');
    assert.ok((await text(socket)).endsWith('\r\n0\r\n\r\n'));
    server.close();
  },
);

for (const waits of [true, false])
  contract(
    'node',
    'http/transport/connection.ts',
    `onIncoming can ${waits ? 'turn a request into an Upgrade' : 'skip the rest of a read'}`,
    async () => {
      const request = (path: string): string => `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc`;
      const seen: unknown[] = [];
      const server = createServer((incoming, response) => {
        seen.push(incoming.url);
        const { parser } = incoming.socket as Socket & { parser: { onIncoming(next: IncomingMessage & { upgrade: boolean }): number } };
        parser.onIncoming = (next) => {
          next.upgrade = waits;
          return 2;
        };
        response.end();
      });
      server.on('upgrade', (next, _socket, rest: Buffer) => seen.push(next.url, rest.toString()));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.write(request('/1') + request('/2') + request('/3'));
      await once(socket, 'data');
      await new Promise(setImmediate);
      assert.deepEqual(seen, ['/1', ...(waits ? ['/2', `abc${request('/3')}`] : [])]);
      socket.destroy();
      server.close();
    },
  );

contract(
  'node',
  'http/transport/collected-request.ts',
  'the parser passes a body to push, and waits after false until _read is called',
  async () => {
    const calls: string[] = [];
    class Request extends IncomingMessage {
      override push(chunk: Buffer | null): boolean {
        calls.push(chunk === null ? 'end' : 'chunk');
        if (chunk === null) this.emit('whole');
        if (calls.length === 1) this.socket.once('pause', () => setImmediate(() => this.emit('paused')));
        return calls.length > 1;
      }
    }
    const server = createServer({ IncomingMessage: Request }, async (request, response) => {
      await once(request, 'paused');
      assert.deepEqual(calls, ['chunk']);
      request._read(0);
      await once(request, 'whole');
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const body = 'x'.repeat(1024 * 1024);
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    assert.match(await text(socket), /^HTTP\/1.1 200/);
    assert.deepEqual([calls.includes('chunk'), calls.at(-1)], [true, 'end']);
    server.close();
  },
);

contract('node', 'http/transport/node-exchange.ts', 'head and body of a short response are one write, byte for byte', async () => {
  const written: unknown[] = [];
  const body = Buffer.from([0x22, 0xc3, 0xa9, 0x22]);
  const server = createServer((_request, response) => {
    const socket = response.socket!;
    const write = socket.write;
    socket.write = function (this: Socket, ...args: unknown[]) {
      written.push(args[0]);
      return write.apply(this, args as Parameters<Socket['write']>);
    } as Socket['write'];
    response.writeHead(200, ['content-length', String(body.length), 'connection', 'close']);
    writeBody(response, { chunks: [body], length: body.length }, { notePart: () => {} });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  server.close();
  assert.equal(written.length, 1);
  assert.deepEqual(Buffer.concat(chunks).subarray(-body.length), body);
});

contract('node', 'database/wire/pg-client.ts', 'what a socket reads is handed on before another socket reads', async () => {
  // As notices of PostgreSQL: a socket hands on complete messages.
  const notices = ['one', 'other'].map((word) => {
    const text = Buffer.from(`N\0\0\0\0${word.repeat(100_000)}`);
    text.writeUInt32BE(text.length - 1, 1);
    return text;
  });
  const server = createSocketServer((socket) => {
    socket.once('data', (bytes) => socket.end(notices[Number(bytes.toString())]!));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const read = notices.map(async (_, index) => {
    const socket = new PgSocket();
    const received: Buffer[] = [];
    socket.on('data', (bytes) => received.push(bytes));
    socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(String(index));
    await once(socket, 'close');
    return Buffer.concat(received);
  });
  assert.deepEqual(await Promise.all(read), notices);
  server.close();
});
