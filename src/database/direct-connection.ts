/**
 * A connection apart from the pool, for what belongs to a session: notifications and advisory locks. It is not opened again if it is lost:
 * then they are, too.
 */
import type { DirectConnection, OnNotification, Rows } from './database.ts';
import { toDatabaseError } from './to-database-error.ts';
import { connectClient, cutConnection, type PgClient, textTypes } from './wire/pg-client.ts';

/** How long a query may take unless said otherwise. */
const queryMillis = 10_000;
/** How long to wait for the connection to end. */
const goodbyeMillis = 1000;

export class PgDirectConnection implements DirectConnection {
  readonly #client: PgClient;
  readonly ended: Promise<void>;

  private constructor(client: PgClient) {
    this.#client = client;
    this.ended = new Promise((resolve) => client.on('end', resolve));
  }

  /** Rejects with `DatabaseError`. */
  static async open(client: PgClient, onNotification: OnNotification): Promise<PgDirectConnection> {
    const connection = new PgDirectConnection(client);
    // An error is reported by the query under way, or by the end of the connection.
    client.on('error', () => undefined);
    client.on('notification', ({ channel, payload }) => onNotification(channel, payload ?? ''));
    try {
      await connectClient(client);
    } catch (error) {
      cutConnection(client);
      throw toDatabaseError(error);
    }
    return connection;
  }

  isPooled(backendId: number): boolean {
    return this.#client.processID !== backendId;
  }

  async query(text: string, timeoutMillis = queryMillis): Promise<Rows> {
    try {
      return (await this.#client.query({ text, rowMode: 'array', types: textTypes, query_timeout: timeoutMillis })).rows;
    } catch (error) {
      const failure = toDatabaseError(error);
      // An answer that comes too late, or never, would hold up what follows.
      if (failure.sqlstate === null) this.cut();
      throw failure;
    }
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => this.cut(), goodbyeMillis);
    await this.#client.end().catch(() => undefined);
    clearTimeout(timer);
  }

  /** Ends the connection at once. */
  cut(): void {
    cutConnection(this.#client);
  }
}
