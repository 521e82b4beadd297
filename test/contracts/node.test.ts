/** What rowgraph needs of Node beyond its documentation, or of what Node calls experimental. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerOptions } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { PgSocket } from '../../src/database/wire/pg-client.ts';
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

contract('node', 'http/transport/bare-sockets.ts', 'the parser has these codes for what it rejects', async () => {
  const long = `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`;
  assert.equal(await serve({}, long, () => ''), 'clientError HPE_HEADER_OVERFLOW');
  assert.equal(await serve({}, 'GET / HTTP/3.0\r\nhost: a\r\n\r\n', () => ''), 'clientError HPE_INVALID_VERSION');
  assert.equal(await serve({}, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', () => ''), 'clientError HPE_PAUSED_H2_UPGRADE');
  const timeouts = { headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 5 };
  assert.equal(await serve(timeouts, 'GET / HTTP/1.1\r\n', () => ''), 'clientError ERR_HTTP_REQUEST_TIMEOUT');
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
