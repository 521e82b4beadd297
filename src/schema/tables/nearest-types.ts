/**
 * The input types that find the nearest rows: by vectors of pgvector, by the trigrams of texts, by points. For the embeddings of a plant:
 *
 *     input PlantNearest { embedding: VectorNearest  name: TextNearest  within: Float }
 *     input VectorNearest { to: [Float!]  text: String  nearestTo: ID  metric: VectorMetric = COSINE }
 *     input TextNearest { to: String  nearestTo: ID  metric: TextMetric = SIMILARITY }
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
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { nearestTypeNames } from '../../model/naming/graphql-names.ts';
import { forms, type MeasuredInput, type Metric, metrics } from '../../model/types/metrics.ts';
import { bindField, bindInput } from '../bindings.ts';
import { inputType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, columnInputs } from '../value-types.ts';

export const nearestTypes = {
  Nearest: inputType(
    (table) => table.columns.some(isMeasured),
    nearestFields,
    (typeName) => `Finds the nearest \`${typeName}\` records by one of their values`,
  ),
} as const satisfies Partial<TableTypes>;

function isMeasured({ selectable, measured }: Column): boolean {
  return selectable && measured !== null;
}

/** A column of the name takes that of the bound, which the table then lacks. */
function nearestFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const within = { type: GraphQLFloat, description: 'The greatest distance', ...bindInput('nearest', { kind: 'within' }) };
  const values = columnInputs('nearest', table.columns.filter(isMeasured), 'fieldName', ({ measured }) =>
    measured ? registry.nearest.get(forms[measured.form].input) : undefined,
  );
  return { within, ...values };
}

/** How clients give what distances are measured from. */
const origins: Readonly<Record<MeasuredInput, { readonly to: string; readonly text: string | null }>> = {
  numbers: { to: 'A number for each dimension', text: 'The vector as PostgreSQL writes it' },
  bits: { to: 'A number for each bit: 0 or 1', text: 'The vector as PostgreSQL writes it' },
  points: { to: 'The numbers of a point: x and y', text: 'The point as PostgreSQL writes it' },
  texts: { to: 'A text', text: null },
  places: { to: 'A geometry', text: null },
};

/** Defines the types that all tables share. Runs after all other types are defined, so that these give way if a name is taken. */
export function defineNearest(registry: TypeRegistry, inputs: ReadonlySet<MeasuredInput>): void {
  for (const input of inputs) registry.nearest.set(input, defineOrigin(registry, input));
}

function defineOrigin(registry: TypeRegistry, input: MeasuredInput): GraphQLInputObjectType {
  const names = nearestTypeNames[input];
  const { to, text } = origins[input];
  const [usual, ...others] = metricsOf(input);
  const metric = others.length > 0 ? defineMetric(registry, names.metric, metricsOf(input)) : null;
  const description = `What distances are measured from: one of \`to\`${text === null ? '' : ', `text`'} and \`nearestTo\``;
  const fields: GraphQLInputFieldConfigMap = {
    to: {
      type: originType(registry, input),
      description: to,
      ...bindInput('nearest to', { kind: 'to' }),
    },
    ...(text !== null && { text: { type: GraphQLString, description: text, ...bindInput('nearest to', { kind: 'text' }) } }),
    nearestTo: {
      type: GraphQLID,
      description: 'A record of the same type, which is left out itself',
      ...bindInput('nearest to', { kind: 'nearest to' }),
    },
    ...(metric !== null && {
      metric: {
        type: metric,
        default: { value: usual },
        description: 'How distances are measured; an index of vectors serves one way',
        ...bindInput('nearest to', { kind: 'metric' }),
      },
    }),
  };
  return registry.defineFree(names.nearest, (name) => new GraphQLInputObjectType({ name, description, fields }));
}

function originType(registry: TypeRegistry, input: MeasuredInput): GraphQLInputType {
  if (input === 'places' && registry.geoTypes !== null) return registry.scalar(registry.geoTypes.scalar);
  return input === 'texts' ? GraphQLString : new GraphQLList(new GraphQLNonNull(GraphQLFloat));
}

function metricsOf(input: MeasuredInput): readonly Metric[] {
  return Object.values(forms).find((form) => form.input === input)?.metrics ?? [];
}

function defineMetric(registry: TypeRegistry, wish: string, names: readonly Metric[]): GraphQLEnumType {
  const values = Object.fromEntries(names.map((each) => [each, { description: metrics[each].description }]));
  return registry.defineFree(wish, (name) => new GraphQLEnumType({ name, description: 'How a distance is measured', values, ...asChoice }));
}

/** The argument `nearest` of a collection; empty if nothing of the table has distances, or if a function has an argument of that name. */
export function nearestArgument(
  registry: TypeRegistry,
  table: Table,
  others: GraphQLFieldConfigArgumentMap,
): { readonly nearest?: GraphQLArgumentConfig } {
  if (!hasNearest(registry, table) || 'nearest' in others) return {};
  const description = 'Only records with a distance, the nearest first';
  return { nearest: { type: registry.inputOf(table, 'Nearest'), description, ...bindInput('collection', { kind: 'nearest' }) } };
}

/** The field `distance` of an edge; empty if nothing of the table has distances. */
export function distanceField(registry: TypeRegistry, table: Table): GraphQLFieldConfigMap<unknown, unknown> {
  if (!hasNearest(registry, table)) return {};
  const description = 'The distance of the record; null without the argument `nearest`';
  return { distance: { type: GraphQLFloat, description, ...bindField('edge', { kind: 'distance' }) } };
}

export function hasNearest(registry: TypeRegistry, table: Table): boolean {
  return registry.nearest.size > 0 && registry.hasOf(table, 'Nearest');
}
