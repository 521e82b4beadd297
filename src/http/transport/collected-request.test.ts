import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { CollectedRequest } from './collected-request.ts';

type Handler = (request: CollectedRequest, response: ServerResponse) => void;

async function open(context: TestContext, handler: Handler): Promise<Socket> {
  const server: Server = createServer({ IncomingMessage: CollectedRequest }, handler as never);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  context.after(() => {
    socket.destroy();
    server.close();
  });
  await once(socket, 'connect');
  return socket;
}

const head = (length: number) => `POST / HTTP/1.1\r\nhost: here\r\ncontent-length: ${length}\r\n\r\n`;

/** Resolves with what the socket has received once that matches. */
function receive(socket: Socket, pattern: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const note = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (!pattern.test(text)) return;
      socket.off('data', note);
      resolve(text);
    };
    socket.on('data', note);
  });
}

/** The whole body. */
function collect(request: CollectedRequest): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    request.deliver({
      takeChunk: (chunk) => {
        text += String(chunk);
      },
      takeEnd: () => resolve(text),
    });
  });
}

test('a body that arrives in pieces is handed over whole, also if some of it came before it was asked for', async (context) => {
  const arrived = Promise.withResolvers<CollectedRequest>();
  const socket = await open(context, async (request, response) => {
    arrived.resolve(request);
    await once(socket, 'asked');
    response.end(`got ${await collect(request)}`);
  });
  socket.write(`${head(9)}one`);
  await arrived.promise;
  socket.write('two');
  socket.emit('asked');
  socket.write('six');
  assert.match(await receive(socket, /got \w{9}/), /got onetwosix/);
});

test('a server reads no further than it must before a body is asked for', async (context) => {
  const body = 'x'.repeat(8 * 1024 * 1024);
  const socket = await open(context, async (request, response) => {
    await once(request.socket, 'pause');
    assert.ok(socket.writableLength > 0);
    response.end(`got ${(await collect(request)).length} bytes`);
  });
  socket.write(head(body.length) + body);
  assert.match(await receive(socket, /bytes/), new RegExp(`got ${body.length} bytes`));
});

test('a body that nobody asks for is discarded, however long, and the next request of the connection is served', async (context) => {
  let served = 0;
  const socket = await open(context, async (request, response) => {
    served += 1;
    if (served === 1) await once(request.socket, 'pause');
    response.end(`served ${served}.`);
  });
  const body = 'x'.repeat(8 * 1024 * 1024);
  socket.write(head(body.length) + body);
  assert.match(await receive(socket, /served 1/), /served 1/);
  socket.write(`${head(3)}two`);
  assert.match(await receive(socket, /served 2/), /served 2/);
});
