/**
 * The schema snapshots for `resolve`, which runs on its callers' connections: each connection has its own search path, and sees what its
 * open transaction has changed. Snapshots are identified by their fingerprint, because nobody notifies of such changes.
 */
import { LRUCache } from 'lru-cache';
import type { RequestDatabase } from '../../database/database.ts';
import type { Observer } from '../../events.ts';
import { readFingerprint } from '../../freshness/fingerprint.ts';
import type { SchemaStamp } from '../../freshness/versions.ts';
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

/** How many of the previous snapshot's roles are loaded with the next one. A few at a time, because requests need the connections. */
const mostCarriedOver = 50;
const loadedAtATime = 2;

/** Loads the snapshot that replaces `previous`, with the schemas of the roles that were asked for, and reports it. */
export async function loadSnapshot(
  database: RequestDatabase,
  settings: SnapshotSettings,
  observe: Observer,
  stamp: SchemaStamp,
  previous: SchemaSnapshot | null,
  onDoubt: () => void,
): Promise<SchemaSnapshot> {
  const start = performance.now();
  const snapshot = await SchemaSnapshot.load(database, stamp, settings, onDoubt);
  await loadRoles(snapshot, previous?.roles().slice(0, mostCarriedOver) ?? [], database);
  // Meanwhile the watch checked those of the previous one.
  await snapshot.checkRoles(database);
  if (snapshot.ignoredDirectives.length > 0) observe({ kind: 'directives-ignored', problems: snapshot.ignoredDirectives });
  observe({ kind: 'schema-loaded', version: stamp.version, seconds: (performance.now() - start) / 1000 });
  return snapshot;
}

/** Loads what these roles see. If one cannot be loaded, only the request that asks for it later fails. */
async function loadRoles(snapshot: SchemaSnapshot, roles: readonly string[], database: RequestDatabase): Promise<void> {
  const left = roles.values();
  const loadLeft = async (): Promise<void> => {
    for (const role of left) await Promise.allSettled([snapshot.prepare(role, database)]);
  };
  await Promise.all(Array.from({ length: loadedAtATime }, loadLeft));
}
