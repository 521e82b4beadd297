/**
 * The additions to pg_graphql's schema, which settings and comment directives switch off. An addition never changes the meaning of a
 * document written for pg_graphql (`filterGuard` refuses some), and gives way if its names clash with those of a table.
 */
import type { Directive } from './directives.ts';

/** Each addition, and what it adds. */
export const additionTable = {
  relationFilters: 'Filters by related rows',
  relationOrder: 'Orders by related rows, and by computed fields',
  increment: 'Updates that add to numbers',
  moreAggregates: 'More aggregates: distinct counts, standard deviation and variance, booleans, percentiles',
  groups: 'Groups of rows, with their aggregates',
  serialInputs: 'Values for serial and identity columns in inserts',
  insertOnly: 'Inserts into tables that the role may not read',
  onConflict: 'Upserts: inserts that update existing rows',
  nestedWrites: 'Inserts and updates that write related rows',
  writtenEdges: 'The records that a mutation wrote, as edges of their collection',
  queryInResponses: 'The field "query" of mutation responses, which reads anything after the write',
  filterGuard: 'Refusal of updates and deletes whose filter has lost its conditions',
  inferredKeys: 'Keys and relations of views, inferred from the tables behind them',
  adaptedNames: 'Legal names for what has a name that GraphQL forbids',
  specifiedBy: '@specifiedBy on custom scalars; applies to the whole schema, so only the setting switches it',
} as const satisfies Record<string, string>;

export type AdditionName = keyof typeof additionTable;
export type Additions = ReadonlySet<AdditionName>;

/** All additions, in table order. */
export const additionNames = Object.keys(additionTable) as readonly AdditionName[];

/** Additions that a table has only if its aggregates are enabled. */
export const ofAggregates: ReadonlySet<AdditionName> = new Set(['moreAggregates']);

/** Additions that give a table types if other tables with the addition have relations to it. */
export const ofRelations: ReadonlySet<AdditionName> = new Set(['relationFilters', 'relationOrder', 'nestedWrites']);

export const allAdditions: Additions = new Set(additionNames);
export const noAdditions: Additions = new Set();

/**
 * The additions that remain after directives like `{"additions": {"relationFilters": false}}`. A directive cannot enable an addition that
 * the setting disables.
 */
export function narrowAdditions(additions: Additions, ...directives: readonly Directive[]): Additions {
  const switches = directives.map(({ additions: given }) => given).filter((given) => typeof given === 'object' && given !== null);
  if (switches.length === 0) return additions;
  const merged: Record<string, unknown> = Object.assign({}, ...switches);
  return new Set([...additions].filter((name) => !Object.hasOwn(merged, name) || merged[name] !== false));
}
