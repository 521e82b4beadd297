import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { CommandError } from './command-error.ts';
import { connectOnce, UnreachableError } from './connect-once.ts';

/** What connecting to a server fails with that does this to its clients. */
async function failureAt(onConnection: (socket: Socket) => void, patience?: number): Promise<unknown> {
  const server = createServer(onConnection).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket.on('error', () => {})));
  try {
    return await connectOnce(`postgres://somebody:secret@127.0.0.1:${port}/app`, async () => 'connected', patience).catch((error) => error);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

test('a server that hangs up, or is silent, may answer later', async () => {
  const hungUp = await failureAt((socket) => socket.end());
  assert.ok(hungUp instanceof UnreachableError);
  assert.match(hungUp.message, /^cannot use the database postgres:\/\/somebody@127\.0\.0\.1:\d+\/app: Connection terminated unexpectedly$/);
  const silent = await failureAt(() => {}, 10);
  assert.ok(silent instanceof UnreachableError);
  assert.match(silent.message, /timeout expired$/);
});

test('nobody who listens at any address of a host may come', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), 'close');
  await assert.rejects(
    connectOnce(`postgres://somebody@localhost:${port}/app`, async () => 'connected'),
    (error) => error instanceof UnreachableError && /: connect ECONNREFUSED \S+/.test(error.message),
  );
});

test('what is no PostgreSQL will not become one', async () => {
  const failure = await failureAt((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  assert.ok(failure instanceof CommandError);
});
