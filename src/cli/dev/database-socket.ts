/**
 * Opens the embedded database to psql and other PostgreSQL clients, on loopback. All clients and the API share one session, so their messages
 * must not mix: a client holds the session's lock from its first message until the database is ready for another query, outside a transaction.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';

export interface DatabaseSocket {
  readonly url: string;
  /** Disconnects the clients, which may connect again. */
  disconnect(): Promise<void>;
  close(): Promise<void>;
}

const mostClients = 20;

/** Listens on 127.0.0.1; port 0 picks a free one. Clients get the database of the moment at which they connect. */
export async function openDatabaseSocket(pglite: () => PGlite, port: number): Promise<DatabaseSocket> {
  const clients = new Map<Socket, Promise<void>>();
  const server = createServer((socket) => {
    // A connection that breaks ends the loop that reads it.
    socket.on('error', () => undefined);
    if (clients.size >= mostClients) return socket.destroy();
    const served = serveClient(socket, pglite()).finally(() => clients.delete(socket));
    return clients.set(socket, served);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const disconnect = async (): Promise<void> => {
    const served = [...clients.values()];
    for (const socket of clients.keys()) socket.destroy();
    await Promise.all(served);
  };
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${(server.address() as AddressInfo).port}/postgres`,
    disconnect,
    close: () => {
      server.close();
      return disconnect();
    },
  };
}

/** Passes messages on until the client leaves. Never rejects. */
async function serveClient(socket: Socket, pglite: PGlite): Promise<void> {
  const session = new SharedSession(pglite);
  let isStarted = false;
  let received = Buffer.alloc(0);
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received = Buffer.concat([received, chunk]);
      for (let length = lengthOf(received, isStarted); length !== null; length = lengthOf(received, isStarted)) {
        const message = received.subarray(0, length);
        received = received.subarray(length);
        if (isStarted && typeOf(message) === messageType.terminate) return;
        const code = isStarted ? null : message.readInt32BE(4);
        if (code === cancelRequest) return;
        if (code === sslRequest || code === gssRequest) socket.write('N');
        else {
          socket.write(await session.send(message, isStarted));
          isStarted = true;
        }
      }
    }
  } catch {
    // The client is gone, or the database is closed.
  } finally {
    if (isStarted) await session.reset().catch(() => undefined);
    socket.destroy();
  }
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
const messageType = { notification: 'A', parse: 'P', query: 'Q', readyForQuery: 'Z', terminate: 'X' } as const;
const sslRequest = 80_877_103;
const gssRequest = 80_877_104;
const cancelRequest = 80_877_102;

function typeOf(message: Buffer): string {
  return String.fromCharCode(message[0] ?? 0);
}

/** How long the first message is; null if it has not arrived whole. The first one of a connection has no type. */
function lengthOf(received: Buffer, isStarted: boolean): number | null {
  if (received.length < (isStarted ? 5 : 8)) return null;
  const length = isStarted ? 1 + received.readInt32BE(1) : received.readInt32BE(0);
  return received.length < length ? null : length;
}

/** The session, as one client has it. */
class SharedSession {
  readonly #pglite: PGlite;
  /** Releases the lock; null if this client does not hold it. */
  #release: (() => void) | null = null;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  /** The database's reply to a message. */
  async send(message: Buffer, isStarted: boolean): Promise<Buffer> {
    this.#release ??= await this.#lock();
    const allowed = isStarted ? withoutCopyFromStdin(message) : message;
    const { data } = await this.#pglite.execProtocol(allowed, { throwOnError: false });
    const reply = withoutOurNotifications(data);
    if (!isStarted || isIdle(reply)) this.#unlock();
    return reply;
  }

  /** Rolls back what the client has left open, and resets its settings: they must not affect the next client. */
  async reset(): Promise<void> {
    this.#release ??= await this.#lock();
    try {
      await this.#pglite.execProtocol(typedMessage(messageType.query, 'rollback; reset session authorization; reset role; reset all\0'), {
        throwOnError: false,
      });
    } finally {
      this.#unlock();
    }
  }

  #lock(): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.#pglite.runExclusive(() => new Promise<void>((release) => resolve(release))).catch(reject);
    });
  }

  #unlock(): void {
    this.#release?.();
    this.#release = null;
  }
}

/** Whether a reply ends with ReadyForQuery outside a transaction: its type, a length of 5, and the state. */
function isIdle(reply: Buffer): boolean {
  return reply.toString('latin1', reply.length - 6) === `${messageType.readyForQuery}\0\0\0\u0005I`;
}

/** The session listens for schema changes on our behalf; clients that did not ask for notifications must not receive them. */
function withoutOurNotifications(data: Uint8Array): Buffer {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const kept: Buffer[] = [];
  for (let offset = 0; offset + 5 <= bytes.length; ) {
    const end = offset + 1 + bytes.readInt32BE(offset + 1);
    const isNotification = bytes[offset] === messageType.notification.charCodeAt(0);
    // Type, length and process id come before the name of the channel.
    const isOurs = isNotification && bytes.toString('utf8', offset + 9, end).startsWith('rowgraph_');
    if (!isOurs) kept.push(bytes.subarray(offset, end));
    offset = end;
  }
  return Buffer.concat(kept);
}

const refusal = `do $$ begin
  raise feature_not_supported using message = 'copy from stdin does not work in the embedded database',
    hint = 'Put it into a file and load that with: rowgraph dev --sql FILE';
end $$`;

/** Blocks COPY FROM STDIN: PGlite takes the end of the message for a lost connection and ends the process. */
function withoutCopyFromStdin(message: Buffer): Buffer {
  const type = typeOf(message);
  if (type !== messageType.query && type !== messageType.parse) return message;
  if (!/\bcopy\b[^;]*\bfrom\s+stdin\b/i.test(message.toString('utf8', 5))) return message;
  if (type === messageType.query) return typedMessage(type, `${refusal}\0`);
  const statementName = message.toString('utf8', 5, message.indexOf(0, 5));
  return typedMessage(type, `${statementName}\0${refusal}\0\0\0`);
}

function typedMessage(type: string, text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}
