/** Random arguments of `groups`: by columns, their truncations and ranges, and columns of related rows; conditions on counts; orders. */
import { type GraphQLField, type GraphQLInputObjectType, getNamedType, isEnumType, isInputObjectType } from 'graphql';
import { randomValueKey } from './random-json.ts';
import type { RandomSource } from './random-source.ts';

type Element = Readonly<Record<string, unknown>>;

const directions = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'];

/** The arguments by name; none where rows cannot be grouped. */
export function randomGroups(random: RandomSource, field: GraphQLField<unknown, unknown>): Map<string, unknown> | undefined {
  const type = getNamedType(field.args.find(({ name }) => name === 'by')!.type) as GraphQLInputObjectType;
  // Each has a first name of its own, so that none names a column twice; a range may name one that is there.
  const members = random.sample(Object.keys(type.getFields()), random.pick([1, 1, 1, 2, 2, 3]));
  const by = members.filter((name) => name !== 'bucket' || members.length === 1).map((name) => randomElement(random, type, name, 2));
  const present = by.filter((element) => element !== undefined);
  if (present.length === 0) return undefined;
  const [ofJson] = present.filter((element) => pathOf(element) !== null);
  if (ofJson && random.chance(0.3)) {
    const another = { [Object.keys(ofJson)[0]!]: randomValueKey(random) };
    if (JSON.stringify(pathOf(another)) !== JSON.stringify(pathOf(ofJson))) present.push(another);
  }
  const args = new Map<string, unknown>([['by', present.length === 1 && random.chance(0.2) ? present[0] : present]]);
  if (random.chance(0.3)) args.set('having', randomHaving(random));
  if (random.chance(0.4)) args.set('orderBy', randomOrder(random, present));
  if (random.chance(0.4)) args.set('first', random.pick([0, 1, 2, 3, 100]));
  if (random.chance(0.2)) args.set('offset', random.integer(0, 2));
  if (random.chance(0.4)) args.set('timeZone', random.pick(['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC', null]));
  return args;
}

function randomElement(random: RandomSource, type: GraphQLInputObjectType, name: string, depth: number): Element | undefined {
  const inner = getNamedType(type.getFields()[name]!.type);
  if (isEnumType(inner)) return { [name]: random.pick(inner.getValues()).name };
  if (!isInputObjectType(inner)) return undefined;
  if (inner.name === 'JSONPathGroup') return { [name]: randomValueKey(random) };
  const fields = Object.keys(inner.getFields());
  if (fields.length === 0 || depth === 0) return undefined;
  const chosen = random.pick(fields);
  if (isRange(inner)) return { [name]: { [chosen]: widthOf(random, getNamedType(inner.getFields()[chosen]!.type).name) } };
  const element = randomElement(random, inner, chosen, depth - 1);
  return element && { [name]: element };
}

/** The input of ranges has no enums in it. */
function isRange(type: GraphQLInputObjectType): boolean {
  return Object.values(type.getFields()).every(
    (field) => !isEnumType(getNamedType(field.type)) && !isInputObjectType(getNamedType(field.type)),
  );
}

function widthOf(random: RandomSource, scalar: string): unknown {
  const whole = random.pick([1, 2, 10, 1000]);
  // A domain may be over whole numbers.
  if (!['BigInt', 'BigFloat', 'Float'].includes(scalar)) return whole;
  if (scalar === 'BigInt') return String(whole);
  const fraction = random.pick(['0.5', '3', '10', '0.125']);
  return scalar === 'Float' ? Number(fraction) : fraction;
}

function randomHaving(random: RandomSource, depth = 2): Element {
  const count = { count: { [random.pick(['eq', 'neq', 'gt', 'gte', 'lt', 'lte'])]: random.pick([0, 1, 1, 2, 3, null]) } };
  if (depth === 0) return count;
  const inner = (): Element => randomHaving(random, depth - 1);
  const others = [
    { not: inner() },
    { or: [inner(), { count: { in: [1, 2] } }] },
    { ...count, and: [inner()] },
    { count: { is: 'NOT_NULL' } },
    { or: [] },
    {},
  ];
  return random.chance(0.4) ? count : random.pick(others);
}

/** The path of an element by a JSON column of the table itself; null of others. */
export function pathOf(element: Element): readonly string[] | null {
  const [inner] = Object.values(element);
  return typeof inner === 'object' && inner !== null && 'path' in inner ? (inner.path as string[]) : null;
}

/** By the count, or by keys that are there, as in `{key: {author: {name: AscNullsLast}}}`. */
function randomOrder(random: RandomSource, by: readonly Element[]): readonly Element[] {
  return Array.from({ length: random.integer(1, 2) }, () => {
    const direction = random.pick(directions);
    return random.chance(0.4) ? { count: direction } : { key: keyOrder(random.pick(by), direction, by) };
  });
}

function keyOrder(element: Element, direction: string, by: readonly Element[] = []): Element {
  const [[name, inner]] = Object.entries(element) as [[string, unknown]];
  if (typeof inner === 'string') return { [name]: direction };
  const next = inner as Element;
  // Only of several paths it has to be said which.
  if (Array.isArray(next.path)) return { [name]: { ...(by.filter((each) => name in each).length > 1 && { path: next.path }), direction } };
  const isWidth = typeof Object.values(next)[0] !== 'object' && !/^[A-Z]+$/.test(String(Object.values(next)[0]));
  if (isWidth) return { [Object.keys(next)[0]!]: direction };
  return { [name]: keyOrder(next, direction) };
}
