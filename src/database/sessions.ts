/** Opens connections apart from the pool: by a URL, or beside a pool. */
import type { Sessions } from './database.ts';
import { PgDirectConnection } from './direct-connection.ts';
import { Hosts } from './hosts.ts';
import { PgReplicationStream } from './replication-stream.ts';
import { toDatabaseError } from './to-database-error.ts';
import { createClient, createReplicationClient, openClient, type PgClient, type ReplicationClient } from './wire/pg-client.ts';

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
