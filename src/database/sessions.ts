/** Opens connections apart from the pool: by a URL, or beside a pool. */
import type { Sessions } from './database.ts';
import { PgDirectConnection } from './direct-connection.ts';
import { PgReplicationStream } from './replication-stream.ts';
import { toDatabaseError } from './to-database-error.ts';
import { createClient, createReplicationClient, type PgClient, type ReplicationClient } from './wire/pg-client.ts';

/** Makes clients that are not connected yet. They throw if a file that a URL names is missing. */
export interface ClientMaker {
  createClient(): PgClient;
  createReplicationClient(): ReplicationClient;
}

export function openSessions(maker: ClientMaker): Sessions {
  const make = <Client>(create: () => Client): Client => {
    try {
      return create();
    } catch (error) {
      throw toDatabaseError(error);
    }
  };
  return {
    connect: async (onNotification) =>
      PgDirectConnection.open(
        make(() => maker.createClient()),
        onNotification,
      ),
    replicate: async (publication, signal, listener) =>
      PgReplicationStream.open(
        make(() => maker.createReplicationClient()),
        publication,
        signal,
        listener,
      ),
  };
}

export function openSessionsAt(url: string): Sessions {
  return openSessions({ createClient: () => createClient(url), createReplicationClient: () => createReplicationClient(url) });
}
