/**
 * Opens the embedded database to psql and other PostgreSQL clients, on loopback. In: the PGlite and a port; out: the URL. All clients and
 * the API share one session, so their messages must not mix: a sequence of messages up to its Sync holds the session's lock.
 *
 * Relies on undocumented behaviour of pglite-socket: what it uses of a PGlite (`test/contracts/pglite.test.ts`).
 */
import type { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

export interface DatabaseSocket {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1; port 0 picks a free one. */
export async function openDatabaseSocket(pglite: PGlite, port: number): Promise<DatabaseSocket> {
  const session = new SharedSession(pglite);
  // SharedSession has everything that the server uses of a PGlite.
  const server = new PGLiteSocketServer({ db: session as unknown as PGlite, host: '127.0.0.1', port, maxConnections: 20 });
  await server.start();
  return {
    url: `postgres://postgres:postgres@${server.getServerConn()}/postgres`,
    close: () => server.stop(),
  };
}

type Work<T> = () => Promise<T>;

/** The session as the socket server sees it. */
class SharedSession {
  readonly #pglite: PGlite;
  /** Releases the session's lock; null if we do not hold it. */
  #release: (() => void) | null = null;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  get waitReady(): Promise<void> {
    return this.#pglite.waitReady;
  }

  /** The server calls this to find out whether the next message must come from the same client. */
  isInTransaction(): boolean {
    return this.#release !== null || this.#pglite.isInTransaction();
  }

  /** Takes the lock, unless it is still held for earlier messages. */
  async runExclusive<T>(work: Work<T>): Promise<T> {
    if (this.#release === null) await this.#hold();
    return work();
  }

  /** Sends one message of a client and passes on the database's reply. Keeps the lock until the database is ready for a query. */
  async execProtocolRawStream(message: Uint8Array, { onRawData }: { onRawData: (data: Uint8Array) => void }): Promise<void> {
    try {
      // PGlite's own method of this name would keep its sink in place, which would swallow the reply to the next client.
      const { data } = await this.#pglite.execProtocol(isTerminate(message) ? resetSession : withoutCopyFromStdin(message), {
        throwOnError: false,
      });
      const answer = withoutOurNotifications(data);
      if (answer.length > 0 && !isTerminate(message)) onRawData(answer);
      if (endsReadyForQuery(answer) || message[0] === startup) this.#unlock();
    } catch (error) {
      this.#unlock();
      throw error;
    }
  }

  /** Called with `rollback` when a client disconnects in an open transaction. */
  async exec(text: string): Promise<void> {
    if (this.#release === null) await this.#hold();
    try {
      await this.#pglite.execProtocol(typedMessage(messageType.query, `${text}\0`), { throwOnError: false });
    } finally {
      this.#unlock();
    }
  }

  #hold(): Promise<void> {
    return new Promise((resolve) => {
      void this.#pglite.runExclusive(
        () =>
          new Promise<void>((release) => {
            this.#release = release;
            resolve();
          }),
      );
    });
  }

  #unlock(): void {
    this.#release?.();
    this.#release = null;
  }
}

const messageType = { notification: 'A', parse: 'P', query: 'Q', readyForQuery: 'Z', terminate: 'X' } as const;
/** A startup packet has no type byte; it begins with the high byte of its length. */
const startup = 0;

/** A client's settings must not affect the next client. */
const resetSession = typedMessage(messageType.query, 'rollback; reset session authorization; reset role; reset all\0');

function isTerminate(message: Uint8Array): boolean {
  return message[0] === messageType.terminate.charCodeAt(0);
}

/** ReadyForQuery is the last message of a reply: its type, a length of 5, and the state of the transaction. */
function endsReadyForQuery(answer: Uint8Array): boolean {
  return answer.at(-6) === messageType.readyForQuery.charCodeAt(0) && answer.at(-2) === 5;
}

/** The session listens for schema changes on our behalf; clients that did not ask for notifications must not receive them. */
function withoutOurNotifications(data: Uint8Array): Uint8Array {
  const bytes = toBuffer(data);
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
function withoutCopyFromStdin(message: Uint8Array): Uint8Array {
  const bytes = toBuffer(message);
  const type = String.fromCharCode(bytes[0] ?? 0);
  if (type !== messageType.query && type !== messageType.parse) return message;
  if (!/\bcopy\b[^;]*\bfrom\s+stdin\b/i.test(bytes.toString('utf8', 5))) return message;
  if (type === messageType.query) return typedMessage(type, `${refusal}\0`);
  const statementName = bytes.toString('utf8', 5, bytes.indexOf(0, 5));
  return typedMessage(type, `${statementName}\0${refusal}\0\0\0`);
}

function typedMessage(type: string, text: string): Uint8Array {
  const body = Buffer.from(text);
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
