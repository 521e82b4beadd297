/**
 * Hybrid search: the argument `fuse` of collections that have both `search` and `nearest`, and the scores of what they find.
 *
 *     input Fusion { searchWeight: Float = 1  nearestWeight: Float = 1  k: Int = 60  depth: Int = 100 }
 */
import { type GraphQLFieldConfigArgumentMap, type GraphQLFieldConfigMap, GraphQLFloat, GraphQLInputObjectType, GraphQLInt } from 'graphql';
import type { Table } from '../../model/model.ts';
import { fusionTypeName } from '../../model/naming/graphql-names.ts';
import { bindField, bindInput } from '../bindings.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { hasNearest } from './nearest-types.ts';

/** Defines the type that all tables share, if any has both arguments. Gives way if its name is taken. */
export function defineFusion(registry: TypeRegistry, tables: readonly Table[]): void {
  if (!tables.some((table) => isFused(registry, table))) return;
  const description =
    'Fuses two orders: the score of a record is the sum of `weight / (k + place)` over those in which it is among the first';
  const fields = {
    searchWeight: {
      type: GraphQLFloat,
      description: 'How much the places by `search` count. Default: 1',
      ...bindInput('fusion', { kind: 'search weight' }),
    },
    nearestWeight: {
      type: GraphQLFloat,
      description: 'How much the places by `nearest` count. Default: 1',
      ...bindInput('fusion', { kind: 'nearest weight' }),
    },
    k: {
      type: GraphQLInt,
      description: 'The greater it is, the less the first places count more than the next. Default: 60',
      ...bindInput('fusion', { kind: 'k' }),
    },
    depth: {
      type: GraphQLInt,
      description: 'How many records of each order are fused. Default: 100; at most 1,000',
      ...bindInput('fusion', { kind: 'depth' }),
    },
  };
  registry.fusion = registry.defineFree(fusionTypeName, (name) => new GraphQLInputObjectType({ name, description, fields }));
}

function isFused(registry: TypeRegistry, table: Table): boolean {
  return table.isSearchable && registry.searchInput !== null && hasNearest(registry, table);
}

/** `others`: the arguments that a function has besides, which may take the place of any of the three. */
export function fuseArgument(registry: TypeRegistry, table: Table, others: GraphQLFieldConfigArgumentMap): GraphQLFieldConfigArgumentMap {
  const isTaken = ['search', 'nearest', 'fuse'].some((name) => Object.hasOwn(others, name));
  if (registry.fusion === null || isTaken || !isFused(registry, table)) return {};
  const description = 'Finds records by `search` or `nearest` instead of both, those first that are among the first of both';
  return { fuse: { type: registry.fusion, description, ...bindInput('collection', { kind: 'fuse' }) } };
}

export function scoreField(registry: TypeRegistry, table: Table): GraphQLFieldConfigMap<unknown, unknown> {
  if (registry.fusion === null || !isFused(registry, table)) return {};
  return {
    score: {
      type: GraphQLFloat,
      description: 'The score by the argument `fuse`; null without it',
      ...bindField('edge', { kind: 'score' }),
    },
  };
}
