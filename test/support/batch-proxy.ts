/** A TCP proxy in front of a PostgreSQL server that counts network round trips, and cuts connections when a test asks for it. */
import { connect, createServer, type Socket } from 'node:net';

export interface BatchProxy {
  readonly port: number;
  /** The number of batches since the last call. A batch is a run of bytes from a client that the server has answered. */
  takeBatches(): number;
  /** Cuts every connection without telling either side, now or at the next byte that a client sends. */
  cut(when: 'now' | 'on next write'): void;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port of loopback. */
export async function startBatchProxy(serverPort: number): Promise<BatchProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let batches = 0;
  let cutNext = false;
  const cutAll = (): void => {
    cutNext = false;
    for (const sockets of pairs) for (const socket of sockets) socket.destroy();
  };
  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1').setNoDelay(true);
    const pair = [client.setNoDelay(true), server] as const;
    pairs.add(pair);
    let clientSpoke = false;
    client.on('data', (bytes) => {
      if (cutNext) return cutAll();
      if (!clientSpoke) batches++;
      clientSpoke = true;
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      clientSpoke = false;
      client.write(bytes);
    });
    for (const [from, to] of [[client, server] as const, [server, client] as const]) {
      from.on('error', () => {});
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    takeBatches() {
      const taken = batches;
      batches = 0;
      return taken;
    },
    cut(when) {
      if (when === 'now') cutAll();
      else cutNext = true;
    },
    stop() {
      const closed = new Promise<void>((resolve) => proxy.close(() => resolve()));
      cutAll();
      return closed;
    },
  };
}
