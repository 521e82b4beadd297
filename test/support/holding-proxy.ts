/**
 * A TCP proxy before a PostgreSQL server that holds back what the server sends, so that a test decides where a piece of it ends: the network
 * may cut messages anywhere.
 */
import { connect, createServer, type Socket } from 'node:net';

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
  const sockets = new Set<Socket>();
  let isHolding = false;
  let held = Buffer.alloc(0);
  let receiver: Socket | null = null;
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect(serverPort, '127.0.0.1').setNoDelay(true);
    for (const [from, to] of [[client, server] as const, [server, client] as const]) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        to.destroy();
        sockets.delete(from);
      });
    }
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes) => {
      if (!isHolding) return void client.write(bytes);
      held = Buffer.concat([held, bytes]);
      receiver = client;
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
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
    stop() {
      const closed = new Promise<void>((resolve) => proxy.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}
