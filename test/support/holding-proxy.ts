/**
 * A TCP proxy before a PostgreSQL server that holds back what the server sends, so that a test decides where a piece of it ends: the network
 * may cut messages anywhere.
 */
import { createServer, type Socket } from 'node:net';
import { listenOnLoopback, ProxiedConnections } from './proxied-connections.ts';

export interface HoldingProxy {
  readonly port: number;
  /** What the server has sent since `hold`, and nobody has received. */
  readonly held: Buffer;
  /** From now on, nothing that the server sends is passed on. */
  hold(): void;
  /** Passes on so many of the bytes that are held, in one piece; without a number, all of them, and whatever comes. */
  release(length?: number): void;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port of loopback. While it holds, only one connection may be in use. */
export async function startHoldingProxy(serverPort: number): Promise<HoldingProxy> {
  const connections = new ProxiedConnections(serverPort);
  let isHolding = false;
  let held = Buffer.alloc(0);
  let receiver: Socket | null = null;
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connections.join(client);
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes) => {
      if (!isHolding) return void client.write(bytes);
      held = Buffer.concat([held, bytes]);
      receiver = client;
    });
  });
  const port = await listenOnLoopback(proxy);
  return {
    port,
    get held() {
      return held;
    },
    hold() {
      isHolding = true;
    },
    release(length = Infinity) {
      if (length === Infinity) isHolding = false;
      receiver?.write(held.subarray(0, length));
      held = held.subarray(length);
    },
    stop: () => connections.close(proxy),
  };
}
