/** Random arguments of collections that find rows: searches, distances, and both fused. */
import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isListType,
} from 'graphql';
import type { Examples } from './examples.ts';
import { randomPlace } from './places.ts';
import type { RandomSource } from './random-source.ts';

type Value = Readonly<Record<string, unknown>>;

// biome-ignore format: a list
const searchTexts = [
  'cat', 'cats', 'running', 'cat -dog', '"runs fast"', 'a', 'ab', 'b or cat', 'the', '', 'über', 'fast cat', 'dog or cats or far', '-cat', 'ru ca',
  'catz', 'runing', "O'Brien", 'cat & ! (', 'null', 'A b',
];

/** A search of any mode. */
export function randomSearch(random: RandomSource, type: GraphQLNamedType, typeName: string, examples: Examples): Value {
  const { mode } = (type as GraphQLInputObjectType).getFields();
  const modes = getNamedType(mode!.type);
  const names = isEnumType(modes) ? modes.getValues().map(({ name }) => name) : [];
  const usable = examples.hasComparedTexts(typeName) ? names : names.filter((name) => name !== 'SIMILAR');
  return {
    text: random.pick(searchTexts),
    ...(random.chance(0.5) && { mode: random.chance(0.1) ? null : random.pick(usable) }),
    ...(random.chance(0.25) && { config: random.pick(['simple', 'english', 'german', null]) }),
  };
}

/** What rows are near to, mostly by one column. */
export function randomNearest(random: RandomSource, type: GraphQLNamedType, typeName: string, examples: Examples): Value | undefined {
  const fields = Object.values((type as GraphQLInputObjectType).getFields());
  const columns = fields.filter((field) => getNamedType(field.type).name !== 'Float');
  if (random.chance(0.04)) return {};
  const { name, type: inner } = random.pick(columns);
  const origin = randomOrigin(random, getNamedType(inner) as GraphQLInputObjectType, typeName, name, examples);
  const hasBound = fields.length > columns.length && random.chance(0.4);
  return origin && { [name]: origin, ...(hasBound && { within: random.pick([0, 0.5, 0.9, 1, 2.5, -1, 100, null]) }) };
}

function randomOrigin(
  random: RandomSource,
  type: GraphQLInputObjectType,
  typeName: string,
  field: string,
  examples: Examples,
): Value | undefined {
  const { to, metric } = type.getFields();
  const metrics = metric && getNamedType(metric.type);
  const by = random.chance(0.6) && isEnumType(metrics) ? { metric: random.pick(metrics.getValues()).name } : {};
  const nodeIds = examples.nodeIds(typeName);
  if (nodeIds.length > 0 && random.chance(0.3)) return { nearestTo: random.pick(nodeIds), ...by };
  if (getNamedType(to!.type).name === 'GeoJSON') return { to: randomPlace(random, false) };
  const texts = examples.ofField(typeName, field);
  if (!isListType(to!.type)) return { to: random.chance(0.5) && texts.length > 0 ? random.pick(texts) : random.pick(searchTexts), ...by };
  if (texts.length > 0 && random.chance(0.3)) return { text: random.pick(texts), ...by };
  const isBits = isEnumType(metrics) && metrics.getValue('HAMMING') !== undefined;
  const numbers = isBits
    ? Array.from({ length: 4 }, () => random.integer(0, 1))
    : Array.from({ length: 2 }, () => random.pick([0, 1, -1, 0.5, 3]));
  return { to: numbers, ...by };
}

function randomFusion(random: RandomSource): Value {
  return {
    ...(random.chance(0.3) && { searchWeight: random.pick([0, 0.5, 2, 10, null]) }),
    ...(random.chance(0.3) && { nearestWeight: random.pick([0, 0.25, 1, 3, null]) }),
    ...(random.chance(0.4) && { k: random.pick([0, 1, 10, 60, 1000, null]) }),
    ...(random.chance(0.3) && { depth: random.pick([0, 1, 2, 5, 100, null]) }),
  };
}

/** The arguments of a collection that find rows, as far as it has them; mostly none. */
export function randomFinding(
  random: RandomSource,
  { args }: GraphQLField<unknown, unknown>,
  typeName: string,
  examples: Examples,
): readonly (readonly [name: string, value: unknown])[] {
  const typeOf = (name: string): GraphQLInputType | undefined => args.find((argument) => argument.name === name)?.type;
  const [search, nearest, fuse] = ['search', 'nearest', 'fuse'].map(typeOf);
  const isFused = fuse !== undefined && random.chance(0.3);
  const found: [string, unknown][] = [];
  if (search && (isFused || random.chance(0.25))) found.push(['search', randomSearch(random, getNamedType(search), typeName, examples)]);
  const near = nearest && (isFused || random.chance(0.25)) ? randomNearest(random, getNamedType(nearest), typeName, examples) : undefined;
  if (near) found.push(['nearest', near]);
  if (isFused && near && Object.keys(near).length > 0) found.push(['fuse', randomFusion(random)]);
  return found;
}
