/**
 * A TCP proxy in front of a PostgreSQL server that announces another backend than the one behind it, as poolers do, which have keys of their
 * own for cancel requests. Those do not pass this one.
 */
import { createServer } from 'node:net';
import { listenOnLoopback, ProxiedConnections } from './proxied-connections.ts';

export interface KeyProxy {
  readonly port: number;
  stop(): Promise<void>;
}

/** Type and length of BackendKeyData in version 3.0 of the protocol; the process id follows. */
const backendKeyData = Buffer.from([0x4b, 0, 0, 0, 12]);

/** Starts a proxy on a free port of loopback. */
export async function startKeyProxy(serverPort: number): Promise<KeyProxy> {
  const connections = new ProxiedConnections(serverPort);
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connections.join(client);
    let hasKey = false;
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes: Buffer) => {
      const position = hasKey ? -1 : bytes.indexOf(backendKeyData);
      if (position >= 0) {
        hasKey = true;
        const processId = position + backendKeyData.length;
        bytes.writeInt32BE(bytes.readInt32BE(processId) + 1, processId);
      }
      client.write(bytes);
    });
  });
  const port = await listenOnLoopback(proxy);
  return { port, stop: () => connections.close(proxy) };
}
