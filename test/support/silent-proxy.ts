/**
 * A TCP proxy in front of a PostgreSQL server that can fall silent: connections stay open and new ones are accepted, but nothing passes any
 * more, as on a network that drops packets.
 */
import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from './proxied-connections.ts';

export interface SilentProxy {
  readonly port: number;
  /** The number of connections. */
  readonly connections: number;
  fallSilent(): void;
  /** Passes bytes again. Connections that were open while it was silent stay silent: what was lost is not sent again. */
  speak(): void;
  /** Rejects new connections. */
  refuse(): void;
  /** Accepts new connections again. */
  accept(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port of loopback. */
export async function startSilentProxy(serverPort: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  let lost = new Set<Socket>();
  let isSilent = false;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    if (isSilent) lost.add(socket);
  };
  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1').setNoDelay(true);
    track(client.setNoDelay(true));
    track(server);
    client.on('data', (bytes) => lost.has(client) || server.write(bytes));
    server.on('data', (bytes) => lost.has(client) || client.write(bytes));
    client.on('close', () => server.destroy());
    server.on('close', () => lost.has(client) || client.destroy());
  });
  const port = await listenOnLoopback(proxy);
  return {
    port,
    get connections() {
      return sockets.size / 2;
    },
    fallSilent() {
      isSilent = true;
      lost = new Set(sockets);
    },
    speak() {
      isSilent = false;
    },
    refuse() {
      proxy.close();
    },
    async accept() {
      await listenOnLoopback(proxy, port);
    },
    stop() {
      const closed = new Promise<void>((resolve) => proxy.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}
