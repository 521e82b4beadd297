/**
 * The input types that find the nearest rows by the vectors of pgvector. For the embeddings of a plant:
 *
 *     input PlantNearest { embedding: VectorNearest  within: Float }
 *     input VectorNearest { to: [Float!]  text: String  nearestTo: ID  metric: VectorMetric = COSINE }
 */
import {
  type GraphQLArgumentConfig,
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { vectorTypeNames } from '../../model/naming/graphql-names.ts';
import { numbered } from '../../model/naming/names.ts';
import { metrics, metricsOf } from '../../model/types/vector-metrics.ts';
import { bindField, bindInput } from '../bindings.ts';
import { inputType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, columnInputs } from '../value-types.ts';

export const nearestTypes = {
  Nearest: inputType(
    (table) => table.columns.some(isMeasured),
    nearestFields,
    (typeName) => `Finds the nearest \`${typeName}\` records by one of their vectors`,
  ),
} as const satisfies Partial<TableTypes>;

function isMeasured({ selectable, vector }: Column): boolean {
  return selectable && vector !== null;
}

/** A vector of the name takes that of the bound, which the table then lacks. */
function nearestFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const within = { type: GraphQLFloat, description: 'The greatest distance', ...bindInput('nearest', { kind: 'within' }) };
  const vectors = columnInputs('nearest', table.columns.filter(isMeasured), 'fieldName', ({ vector }) =>
    vector?.form === 'bits' ? registry.vectors?.bits : registry.vectors?.numbers,
  );
  return { within, ...vectors };
}

/**
 * Defines the types that all tables share, if any table has vectors. Runs after all other types are defined, so that these give way if a
 * name is taken.
 */
export function* defineVectorTypes(registry: TypeRegistry, tables: readonly Table[]): Generator<void, void> {
  for (const table of tables) {
    if (table.additions.has('vectors') && table.columns.some(isMeasured)) {
      registry.vectors = { numbers: defineNearest(registry, 'numbers'), bits: defineNearest(registry, 'bits') };
      return;
    }
    yield;
  }
}

function defineNearest(registry: TypeRegistry, kind: 'numbers' | 'bits'): GraphQLInputObjectType {
  const names = vectorTypeNames[kind];
  const metric = defineMetric(registry, kind);
  const name = numbered(names.nearest, (candidate) => !registry.has(candidate));
  const type = new GraphQLInputObjectType({
    name,
    description: 'What distances are measured from: one of `to`, `text` and `nearestTo`',
    fields: {
      to: {
        type: new GraphQLList(new GraphQLNonNull(GraphQLFloat)),
        description: kind === 'bits' ? 'A number for each bit: 0 or 1' : 'A number for each dimension',
        ...bindInput('nearest to', { kind: 'to' }),
      },
      text: { type: GraphQLString, description: 'The vector as PostgreSQL writes it', ...bindInput('nearest to', { kind: 'text' }) },
      nearestTo: {
        type: GraphQLID,
        description: 'A record of the same type, which is left out itself',
        ...bindInput('nearest to', { kind: 'nearest to' }),
      },
      metric: {
        type: metric,
        default: { value: metricsOf(kind === 'bits' ? 'bits' : 'dense')[0] },
        description: 'How distances are measured; an index serves one way',
        ...bindInput('nearest to', { kind: 'metric' }),
      },
    },
  });
  registry.define(name, () => type);
  return type;
}

function defineMetric(registry: TypeRegistry, kind: 'numbers' | 'bits'): GraphQLEnumType {
  const name = numbered(vectorTypeNames[kind].metric, (candidate) => !registry.has(candidate));
  const values = metricsOf(kind === 'bits' ? 'bits' : 'dense').map((each) => [each, { description: metrics[each].description }]);
  const type = new GraphQLEnumType({
    name,
    description: 'How the distance of two vectors is measured',
    values: Object.fromEntries(values),
    ...asChoice,
  });
  registry.define(name, () => type);
  return type;
}

/** The argument `nearest` of a collection; empty if the table has no vectors, or if a function has an argument of that name. */
export function nearestArgument(
  registry: TypeRegistry,
  table: Table,
  others: GraphQLFieldConfigArgumentMap,
): { readonly nearest?: GraphQLArgumentConfig } {
  if (!hasNearest(registry, table) || 'nearest' in others) return {};
  const description = 'Only records with a vector, the nearest first';
  return { nearest: { type: registry.inputOf(table, 'Nearest'), description, ...bindInput('collection', { kind: 'nearest' }) } };
}

/** The field `distance` of an edge; empty if the table has no vectors. */
export function distanceField(registry: TypeRegistry, table: Table): GraphQLFieldConfigMap<unknown, unknown> {
  if (!hasNearest(registry, table)) return {};
  const description = 'The distance of the record; null without the argument `nearest`';
  return { distance: { type: GraphQLFloat, description, ...bindField('edge', { kind: 'distance' }) } };
}

export function hasNearest(registry: TypeRegistry, table: Table): boolean {
  return registry.vectors !== null && registry.hasOf(table, 'Nearest');
}
