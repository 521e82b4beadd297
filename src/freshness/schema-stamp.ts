/** Identifies a state of the database's schema. */
import type { RequestDatabase } from '../database/database.ts';
import { readFingerprint } from './read-fingerprint.ts';
import { readVersions, type Versions } from './read-versions.ts';

export interface SchemaStamp extends Versions {
  readonly fingerprint: string;
}

/** Reads the stamp. Read it before the catalog: DDL that commits in between then shows as a difference, and is not missed. */
export async function readSchemaStamp(database: RequestDatabase, schemas: readonly string[]): Promise<SchemaStamp> {
  // One after the other: a fingerprint that has not changed proves that nothing had at this version.
  const versions = await readVersions(database);
  return { ...versions, fingerprint: await readFingerprint(database, schemas) };
}

/** Whether nothing has changed between two stamps. */
export function isSameStamp(one: SchemaStamp, other: SchemaStamp): boolean {
  return one.version === other.version && one.fingerprint === other.fingerprint && one.extension === other.extension;
}
