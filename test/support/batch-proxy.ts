/** A TCP proxy in front of a PostgreSQL server that counts network round trips, and cuts connections when a test asks for it. */
import { createServer, type Socket } from 'node:net';
import { listenOnLoopback, ProxiedConnections } from './proxied-connections.ts';

export interface BatchProxy {
  readonly port: number;
  /** The number of batches since the last call. A batch is a run of bytes from a client that the server has answered. */
  takeBatches(): number;
  /** Cuts every connection without telling either side, now or at the next byte that a client sends. */
  cut(when: 'now' | 'on next write'): void;
  /** Cuts every connection that is open now, each at the next byte that its client sends, but all of them shortly after the first. */
  cutOneByOne(): void;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port of loopback. */
/** In milliseconds. */
const shortly = 10;

export async function startBatchProxy(serverPort: number): Promise<BatchProxy> {
  const connections = new ProxiedConnections(serverPort);
  let batches = 0;
  let cutNext = false;
  const clients = new Set<Socket>();
  const dying = new Set<Socket>();
  const cutAll = (): void => {
    cutNext = false;
    connections.cut();
  };
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connections.join(client);
    let clientSpoke = false;
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('data', (bytes) => {
      if (cutNext) return cutAll();
      if (dying.has(client)) {
        client.destroy();
        setTimeout(() => {
          for (const each of dying) each.destroy();
          dying.clear();
        }, shortly);
        return;
      }
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
    cutOneByOne() {
      for (const client of clients) dying.add(client);
    },
    stop: () => connections.close(proxy),
  };
}
