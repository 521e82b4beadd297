/**
 * Makes a statement fail if the schema is not the one that it was compiled for:
 *
 *     select (select case when … then '' else rowgraph.raise_stale_schema() end from rowgraph.schema_change), …
 *
 * That the session statement finds the right version is not enough: a statement that then waits for the lock of DDL under way goes on
 * when that has committed, on tables that are not what they were. PostgreSQL locks all tables of a statement before it takes the snapshot
 * that this reads the version in, so nothing can change between the two. In a query it stands in the place of the session statement's
 * check and costs what that does. Table and function are those of `extension/schema-version-script.ts`.
 */
import type { Parameter } from '../plan/plan.ts';
import { bind, type Sql, sql } from '../sql/sql.ts';

/** The expression, whose value is ignored; none if the database keeps no version. */
export type Guard = readonly [] | readonly [Sql];

export const unguarded: Guard = [];

/** Makes the guard of a version. */
export function schemaGuard(version: string | null): Guard {
  if (version === null) return unguarded;
  const parameter: Parameter = { value: { kind: 'constant', value: version }, encoding: { kind: 'text' } };
  const isPresent = sql`coalesce(pg_catalog.sum(weight), 0) = ${bind(parameter, 'numeric')}`;
  return [sql`(select case when ${isPresent} then '' else rowgraph.raise_stale_schema() end from rowgraph.schema_change)`];
}
