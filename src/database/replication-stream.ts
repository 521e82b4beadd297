/**
 * A connection that receives what transactions wrote, from a temporary replication slot: the server drops it with the connection, so none is
 * ever left behind to keep its log (https://www.postgresql.org/docs/current/protocol-replication.html).
 */
import { randomBytes } from 'node:crypto';
import { DatabaseError } from '../errors/database-error.ts';
import type { ReplicationStream, StreamListener } from './database.ts';
import { toDatabaseError } from './to-database-error.ts';
import { CopyReader } from './wire/copy-reader.ts';
import { connectClient, cutConnection, type ReplicationClient, takeOverSocket } from './wire/pg-client.ts';

const code = { data: 0x77, keepalive: 0x6b, status: 0x72, commit: 0x43 };
/** Position, end of the log and clock precede each message. */
const dataHeaderLength = 25;
/** How often the server is told what has been received unless it asks, in milliseconds: until then it keeps its log. */
const acknowledgeMillis = 1000;
/**
 * How long to leave what comes after a transaction to gather, in milliseconds: under load, each read and each wake-up of this process costs
 * writers on the same machine more than what is read.
 */
const restMillis = 5;
/** PostgreSQL counts microseconds from the year 2000. */
const epochMillis = Date.UTC(2000, 0, 1);

export class PgReplicationStream implements ReplicationStream {
  readonly #client: ReplicationClient;
  readonly #listener: StreamListener;
  #received = 0n;
  #acknowledgedAt = 0;
  /** Sends what has not been acknowledged yet. */
  #due: NodeJS.Timeout | null = null;
  #heardAt = performance.now();
  #isOver = false;
  /** Whether no transaction is arriving. */
  #isBetween = true;

  /** See `Sessions.replicate`. Rejects with `DatabaseError`. */
  static async open(
    client: ReplicationClient,
    publication: string,
    signal: AbortSignal,
    listener: StreamListener,
  ): Promise<PgReplicationStream> {
    const cut = (): void => cutConnection(client);
    // Errors are reported by the query under way, or by the end of the connection.
    client.on('error', () => undefined);
    signal.addEventListener('abort', cut);
    try {
      signal.throwIfAborted();
      await connectClient(client);
      const slot = `rowgraph_live_${randomBytes(8).toString('hex')}`;
      // Keywords of replication commands are in capitals.
      await client.query(`CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT`);
      const stream = new PgReplicationStream(client, listener);
      await stream.#start(slot, publication);
      return stream;
    } catch (error) {
      cut();
      throw toDatabaseError(error);
    } finally {
      signal.removeEventListener('abort', cut);
    }
  }

  private constructor(client: ReplicationClient, listener: StreamListener) {
    this.#client = client;
    this.#listener = listener;
    takeOverSocket(
      client,
      (bytes) => {
        this.#heardAt = performance.now();
        this.#reader.read(bytes);
        if (!this.#isOver) this.#listener.drained();
        return this.#isBetween;
      },
      restMillis,
    );
    client.on('end', () => this.#end(toDatabaseError(new Error('The replication connection was lost'))));
  }

  get silentMillis(): number {
    return performance.now() - this.#heardAt;
  }

  ask(): void {
    this.#sendStatus(true);
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#due ?? undefined);
    cutConnection(this.#client);
  }

  /** Resolves when the server has begun to send. */
  #start(slot: string, publication: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#onStarted = resolve;
    this.#onRefused = reject;
    const names = `"${publication.replaceAll('"', '""')}"`.replaceAll("'", "''");
    const options = `proto_version '1', publication_names '${names}', messages 'true'`;
    this.#client.connection.stream.write(encodeQuery(`START_REPLICATION SLOT ${slot} LOGICAL 0/0 (${options})`));
    return promise;
  }

  #onStarted: (() => void) | null = null;
  #onRefused: ((error: DatabaseError) => void) | null = null;

  readonly #reader = new CopyReader({
    started: () => {
      this.#onRefused = null;
      this.#onStarted?.();
    },
    data: (bytes, start, end, isWhole) => {
      if (bytes[start] === code.data) this.#pass(bytes, start + dataHeaderLength, end, isWhole);
      else if (bytes[start] === code.keepalive) this.#advance(bytes.readBigUInt64BE(start + 1), bytes[start + 17] === 1);
    },
    failed: (fields) => {
      const error = new DatabaseError(fields.get('M') ?? 'The replication stream has failed', { sqlstate: fields.get('C') ?? null });
      this.#end(error);
    },
    done: () => this.#end(new DatabaseError('The server has ended the replication stream', { sqlstate: null })),
  });

  #pass(bytes: Buffer, start: number, end: number, isWhole: boolean): void {
    this.#listener.message(bytes, start, end, isWhole);
    this.#isBetween = bytes[start] === code.commit;
    // Its flags, its position, and the position after it.
    if (bytes[start] === code.commit) this.#advance(bytes.readBigUInt64BE(start + 10), false);
  }

  /** Everything up to a position has been received. */
  #advance(position: bigint, isAsked: boolean): void {
    if (position > this.#received) {
      this.#received = position;
      this.#listener.stirred();
    }
    const pause = acknowledgeMillis - (performance.now() - this.#acknowledgedAt);
    if (isAsked || pause <= 0) this.#sendStatus(false);
    else this.#due ??= setTimeout(() => this.#sendStatus(false), pause).unref();
  }

  /** Written, flushed and applied up to what has been received: after a loss, nothing is read again. */
  #sendStatus(isAsking: boolean): void {
    clearTimeout(this.#due ?? undefined);
    this.#due = null;
    if (this.#isOver) return;
    this.#acknowledgedAt = performance.now();
    const status = Buffer.alloc(34);
    status[0] = code.status;
    for (const offset of [1, 9, 17]) status.writeBigUInt64BE(this.#received, offset);
    status.writeBigInt64BE(BigInt(Date.now() - epochMillis) * 1000n, 25);
    status[33] = isAsking ? 1 : 0;
    this.#client.connection.stream.write(encodeMessage('d', status));
  }

  #end(error: DatabaseError): void {
    if (this.#isOver) return;
    this.close();
    const refuse = this.#onRefused;
    if (refuse !== null) refuse(error);
    else this.#listener.ended(error);
  }
}

function encodeQuery(text: string): Buffer {
  return encodeMessage('Q', Buffer.from(`${text}\0`));
}

function encodeMessage(type: string, content: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.write(type, 'latin1');
  header.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([header, content]);
}
