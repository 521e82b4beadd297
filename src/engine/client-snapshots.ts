/**
 * The schema snapshots for `resolve`, which runs on its callers' connections: each connection has its own search path, and sees what its
 * open transaction has changed. Snapshots are identified by their fingerprint, because nobody notifies of such changes.
 */
import { LRUCache } from 'lru-cache';
import type { RequestDatabase } from '../database/database.ts';
import { readFingerprint } from '../freshness/read-fingerprint.ts';
import type { RoleSchema } from './role-schema.ts';
import { SchemaSnapshot, type SnapshotSettings } from './schema-snapshot.ts';

const maxSnapshots = 8;

interface ClientState {
  readonly role: string;
  /** The schemas on the search path. */
  readonly schemas: readonly string[];
  /** Identifies the database server: copies of one database may have changed since and still have the same fingerprint. */
  readonly server: string;
}

export class ClientSnapshots {
  readonly #settings: SnapshotSettings;
  readonly #snapshots = new LRUCache<string, SchemaSnapshot>({ max: maxSnapshots });

  constructor(settings: SnapshotSettings) {
    // A connection of the caller has the settings that the caller gives it.
    this.#settings = { ...settings, requestSettings: [] };
  }

  /** What the role of a connection sees now. */
  async roleSchemaOf(database: RequestDatabase): Promise<RoleSchema> {
    const { role, schemas, server } = await readClientState(database);
    const stamp = { version: null, extension: null, changes: null, fingerprint: await readFingerprint(database, schemas) };
    const key = JSON.stringify([server, schemas, stamp.fingerprint]);
    const snapshot = this.#snapshots.get(key) ?? (await SchemaSnapshot.load(database, stamp, { ...this.#settings, schemas }));
    this.#snapshots.set(key, snapshot);
    return snapshot.of(role, database);
  }
}

const clientStateText = `select current_user::text, pg_catalog.array_to_json(pg_catalog.current_schemas(false))::text,
  pg_catalog.concat_ws(' ', pg_catalog.pg_postmaster_start_time(), pg_catalog.current_database())`;

/** The current role, schemas and server of a client. */
async function readClientState(database: RequestDatabase): Promise<ClientState> {
  const [row] = await database.query(clientStateText);
  return { role: row?.[0] ?? '', schemas: JSON.parse(row?.[1] ?? '[]') as string[], server: row?.[2] ?? '' };
}
