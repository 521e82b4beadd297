/**
 * The additions to pg_graphql's schema, which settings and comment directives switch off. An addition never changes the meaning of a
 * document written for pg_graphql (`filterGuard` refuses some), and gives way if its names clash with those of a table.
 */
import { type AdditionName, additionNames } from '../settings/additions.ts';
import type { Directive } from './directives.ts';

export type Additions = ReadonlySet<AdditionName>;

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
  const switches = directives.map(({ additions: members }) => members).filter((members) => typeof members === 'object' && members !== null);
  if (switches.length === 0) return additions;
  const merged: Record<string, unknown> = Object.assign({}, ...switches);
  return new Set([...additions].filter((name) => !Object.hasOwn(merged, name) || merged[name] !== false));
}

export interface ModelSettings {
  /** The name of the global row identifier, in rows, filters and the argument of `node`. Default: nodeId, as in pg_graphql. */
  readonly nodeIdField?: 'nodeId' | 'id' | undefined;
  /** Whether insert inputs require columns that are NOT NULL and have no default. Default: false, as in pg_graphql. */
  readonly requiredInputs?: boolean | undefined;
  /** Whether values of json and jsonb are strings in responses, or the JSON itself. Default: string, as in pg_graphql. */
  readonly json?: 'string' | 'object' | undefined;
  /** Additions to pg_graphql's schema, unless comment directives switch them off. Default: all. */
  readonly additions?: Additions | undefined;
}
