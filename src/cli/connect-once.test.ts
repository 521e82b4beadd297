import assert from 'node:assert/strict';
import dns from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { connectOnce, UnreachableError } from './check-database.ts';
import { CommandError } from './command-error.ts';

/** The error of connecting to a server that treats its clients in this way. */
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

test('a server that hangs up or is silent may work later', async () => {
  const hungUp = await failureAt((socket) => socket.end());
  assert.ok(hungUp instanceof UnreachableError);
  assert.match(hungUp.message, /^cannot use the database postgres:\/\/somebody@127\.0\.0\.1:\d+\/app: Connection terminated unexpectedly$/);
  const silent = await failureAt(() => {}, 10);
  assert.ok(silent instanceof UnreachableError);
  assert.match(silent.message, /timeout expired$/);
});

test('a host with several addresses may work later, and the message has the error of each', async (context) => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), 'close');
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  const lookup = (_host: string, _options: object, callback: (error: null, found: object[]) => void) => callback(null, addresses);
  context.mock.method(dns, 'lookup', lookup as unknown as typeof dns.lookup);
  const refused = addresses.map(({ address }) => `connect ECONNREFUSED ${address}:${port}`).join(', ');
  await assert.rejects(
    connectOnce(`postgres://somebody@database.example:${port}/app`, async () => 'connected'),
    (error) => error instanceof UnreachableError && error.message.endsWith(`: ${refused}`),
  );
});

test('a server that is not PostgreSQL is a permanent error', async () => {
  const failure = await failureAt((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  assert.ok(failure instanceof CommandError);
});
