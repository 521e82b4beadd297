/** Connections apart from the pool: by a URL, or beside a pool. */
import type { DirectConnection, OnNotification, Rows, Sessions } from './database.ts';
import { Hosts } from './hosts.ts';
import { PgReplicationStream } from './replication-stream.ts';
import { toDatabaseError } from './to-database-error.ts';
import {
  createClient,
  createReplicationClient,
  cutConnection,
  openClient,
  type PgClient,
  type ReplicationClient,
  textTypes,
} from './wire/pg-client.ts';

/** Makes clients. Rejects or throws if a file that a URL names is missing. */
interface ClientMaker {
  openClient(): Promise<PgClient>;
  /** Not connected yet. */
  createReplicationClient(): ReplicationClient;
}

export function openSessions(maker: ClientMaker): Sessions {
  return {
    connect: async (onNotification) => {
      try {
        return new PgDirectConnection(await maker.openClient(), onNotification);
      } catch (error) {
        throw toDatabaseError(error);
      }
    },
    replicate: async (publication, signal, listener) => {
      let client: ReplicationClient;
      try {
        client = maker.createReplicationClient();
      } catch (error) {
        throw toDatabaseError(error);
      }
      return PgReplicationStream.open(client, publication, signal, listener);
    },
  };
}

export function openSessionsAt(url: string): Sessions {
  const hosts = new Hosts(url);
  return openSessions({
    openClient: () => hosts.connect((host) => openClient(createClient(host))),
    createReplicationClient: () => createReplicationClient(hosts.current),
  });
}

/** How long a query may take unless said otherwise. */
const queryMillis = 10_000;
/** How long to wait for the connection to end. */
const goodbyeMillis = 1000;

/**
 * A connection apart from the pool, for what belongs to a session: notifications and advisory locks. It is not opened again if it is lost:
 * then they are, too.
 */
class PgDirectConnection implements DirectConnection {
  readonly #client: PgClient;
  readonly ended: Promise<void>;

  /** `client`: connected. Its errors are reported by the query under way, or by the end of the connection. */
  constructor(client: PgClient, onNotification: OnNotification) {
    this.#client = client;
    this.ended = new Promise((resolve) => client.on('end', resolve));
    client.on('notification', ({ channel, payload }) => onNotification(channel, payload ?? ''));
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
