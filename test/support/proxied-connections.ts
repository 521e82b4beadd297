/** What the TCP proxies in front of a PostgreSQL server share: the connections that they pass on, and how they listen. */
import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';

/** The connections of a proxy to a server on loopback. If one end closes, so does the other. */
export class ProxiedConnections {
  readonly #serverPort: number;
  readonly #sockets = new Set<Socket>();

  constructor(serverPort: number) {
    this.#serverPort = serverPort;
  }

  /** Connects a client to the server. Returns the server's end. */
  join(client: Socket): Socket {
    const server = connect(this.#serverPort, '127.0.0.1').setNoDelay(true);
    for (const [from, to] of [[client, server] as const, [server, client] as const]) {
      this.#sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        to.destroy();
        this.#sockets.delete(from);
      });
    }
    return server;
  }

  /** Ends all connections without telling either side. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts all connections and closes their proxy. */
  async close(proxy: Server): Promise<void> {
    const closed = once(proxy, 'close');
    proxy.close();
    this.cut();
    await closed;
  }
}

/** Listens on a port of loopback; on any free one without a number. Returns the port. */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
