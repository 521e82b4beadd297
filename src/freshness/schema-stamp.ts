/** Identifies a state of the database's schema. */
import type { Database } from '../database/database.ts';
import { readFingerprint } from './read-fingerprint.ts';
import { readSchemaVersion } from './schema-triggers.ts';

export interface SchemaStamp {
  /** Null if the database keeps none. */
  readonly version: string | null;
  readonly fingerprint: string;
}

/** Reads the stamp. Read it before the catalog: DDL that commits between the two then shows as a difference, and is not overlooked. */
export async function readStamp(database: Database, schemas: readonly string[]): Promise<SchemaStamp> {
  const [version, fingerprint] = await Promise.all([readSchemaVersion(database), readFingerprint(database, schemas)]);
  return { version, fingerprint };
}
