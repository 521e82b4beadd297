/** A TCP proxy in front of a PostgreSQL server that counts network round trips, and cuts connections when a test asks for it. */
import { createServer } from 'node:net';
import { listenOnLoopback, ProxiedConnections } from './proxied-connections.ts';

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
  const connections = new ProxiedConnections(serverPort);
  let batches = 0;
  let cutNext = false;
  const cutAll = (): void => {
    cutNext = false;
    connections.cut();
  };
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connections.join(client);
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
  });
  const port = await listenOnLoopback(proxy);
  return {
    port,
    takeBatches() {
      const taken = batches;
      batches = 0;
      return taken;
    },
    cut(when) {
      if (when === 'now') cutAll();
      else cutNext = true;
    },
    stop: () => connections.close(proxy),
  };
}
