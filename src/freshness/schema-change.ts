/** What a transaction changed in the schema, as `extension/recent-change-script.ts` notes it, and what that means for a snapshot of the schema. */
import type { Versions } from './read-versions.ts';

export interface SchemaChange {
  /** Identifies the transaction: what it added to the schema version. */
  readonly weight: number;
  /** The schema of what was changed; null if it has none. */
  readonly schema: string | null;
  /** The table or view that was created, altered or dropped, and its name afterwards. */
  readonly relation: number | null;
  readonly name: string | null;
  /** Whether the change concerns only APIs that depend on this schema. */
  readonly isLocal: boolean;
  /** Whether it concerns only requests for this table. */
  readonly isAlone: boolean;
  /** Whether the API may have changed although the fingerprint has not. */
  readonly needsLoad: boolean;
}

/**
 * What has changed between two readings; null if that is not known. All changes are known if the weights of their transactions add up to the
 * difference of the versions.
 */
export function changesBetween(earlier: Versions, later: Versions): readonly SchemaChange[] | null {
  if (earlier.version === null || later.version === null || earlier.changes === null || later.changes === null) return null;
  if (earlier.extension !== later.extension) return null;
  const known = new Set(earlier.changes.map(({ weight }) => weight));
  const changes = later.changes.filter(({ weight }) => !known.has(weight));
  let sum = BigInt(earlier.version);
  for (const weight of new Set(changes.map((change) => change.weight))) sum += BigInt(weight);
  return sum === BigInt(later.version) ? changes : null;
}

/** What a snapshot depends on. */
export interface Dependence {
  /** The schemas that names are looked up in, and those of what its views read. */
  readonly schemas: ReadonlySet<string>;
  /** Its tables by their ids. One without a key may come into the API when it gets one, and take a name that another table has. */
  readonly tables: ReadonlyMap<number, { readonly schema: string; readonly name: string; readonly hasKey: boolean }>;
  /** The ids of what its views read. */
  readonly sources: ReadonlySet<number>;
}

/**
 * The ids of the tables whose requests need a newer snapshot after these changes; `all` if all requests do. Only a table that has a key, still
 * has its name, and is read by no view is one for itself.
 */
export function tablesInDoubt(changes: readonly SchemaChange[], dependence: Dependence): ReadonlySet<number> | 'all' {
  const doubtful = new Set<number>();
  for (const change of changes) {
    if (!concerns(change, dependence)) continue;
    const { schema, relation, name, isAlone } = change;
    const table = relation === null || dependence.sources.has(relation) ? undefined : dependence.tables.get(relation);
    if (!isAlone || table?.hasKey !== true || table.schema !== schema || table.name !== name) return 'all';
    doubtful.add(relation!);
  }
  return doubtful;
}

/** Whether the snapshot may be invalid even if the fingerprint has not changed. */
export function needLoad(changes: readonly SchemaChange[], dependence: Dependence): boolean {
  return changes.some((change) => change.needsLoad && concerns(change, dependence));
}

/** A table that the snapshot knows may have left its schema. */
function concerns({ schema, relation, isLocal }: SchemaChange, { schemas, tables, sources }: Dependence): boolean {
  return !isLocal || schema === null || schemas.has(schema) || (relation !== null && (tables.has(relation) || sources.has(relation)));
}
