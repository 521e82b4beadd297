/**
 * The one table of additions to pg_graphql's schema: what a table has beyond it, unless a setting or a comment directive switches it off. An addition
 * never changes what a document of pg_graphql means, and gives way where a table's own names are in its way.
 */
import type { Directive } from './directives.ts';

/** Each addition, with what it adds. */
export const additionTable = {
  relationFilters: 'Filters of a table by the rows that its relations lead to',
  relationOrder: 'Orders of a table by the rows that its relations lead to, and by its computed fields',
  increment: 'Updates that add to numbers',
  moreAggregates: 'Aggregates of distinct values, spread, booleans and percentiles',
  groups: 'Groups of rows, with their aggregates',
  onConflict: 'Inserts that update the rows that are already there',
  nestedWrites: 'Inserts and updates that write related rows',
  writtenEdges: 'What a mutation wrote, as edges of its collection',
  inferredKeys: 'Views with the keys and relations of the tables that their columns come from',
  specifiedBy: 'Scalars that name the page that specifies them; of the whole schema, so that only the setting switches it',
} as const satisfies Record<string, string>;

export type AdditionName = keyof typeof additionTable;
export type Additions = ReadonlySet<AdditionName>;

/** The names of all additions, in the order of the table. */
export const additionNames = Object.keys(additionTable) as readonly AdditionName[];

/** Those that a table has only with its aggregates. */
export const ofAggregates: ReadonlySet<AdditionName> = new Set(['moreAggregates']);

/** Those that define types of a table where another table with the addition leads to it. */
export const ofRelations: ReadonlySet<AdditionName> = new Set(['relationFilters', 'relationOrder', 'nestedWrites']);

export const allAdditions: Additions = new Set(additionNames);
export const noAdditions: Additions = new Set();

/** What is left of additions after a directive like `{"additions": {"relationFilters": false}}`. One that the setting switches off stays off. */
export function narrowAdditions(additions: Additions, ...directives: readonly Directive[]): Additions {
  const switches = directives.map(({ additions: given }) => given).filter((given) => typeof given === 'object' && given !== null);
  if (switches.length === 0) return additions;
  const merged: Record<string, unknown> = Object.assign({}, ...switches);
  return new Set([...additions].filter((name) => !Object.hasOwn(merged, name) || merged[name] !== false));
}
