/**
 * Makes a statement fail if the schema is not the one that it was compiled for:
 *
 *     select (select case when … then '' else rowgraph.raise_stale_schema() end from rowgraph.schema_change), …
 *
 * The check in the session statement is not enough: a later statement may wait for a lock that DDL under way holds, and continue after its
 * commit on tables that have changed. PostgreSQL locks all tables of a statement before it takes the snapshot from which the guard reads
 * the version, so nothing can change in between. In a query, and in the insert of one row, the guard comes before everything else and replaces the
 * session statement's check, at the same cost.
 * `extension/schema-version-script.ts` creates the table and the function.
 */
import type { Parameter } from '../plan/plan.ts';
import { bind, type Sql, sql } from '../sql/sql.ts';

/**
 * The version for which a snapshot of the schema holds. It moves on when the schema has changed in ways that do not matter to the snapshot:
 * what was compiled for it then remains valid.
 */
export interface SchemaVersion {
  readonly current: string;
}

/** The expression, whose value is ignored; empty if the database keeps no version. */
export type Guard = readonly [] | readonly [Sql];

export const unguarded: Guard = [];

/** Makes the guard of a version, whose current value is bound when the statement runs. */
export function schemaGuard(version: SchemaVersion | null): Guard {
  if (version === null) return unguarded;
  const parameter: Parameter = { value: { kind: 'version', version }, encoding: { kind: 'text' } };
  const isPresent = sql`coalesce(pg_catalog.sum(weight), 0) = ${bind(parameter, 'numeric')}`;
  return [sql`(select case when ${isPresent} then '' else rowgraph.raise_stale_schema() end from rowgraph.schema_change)`];
}
