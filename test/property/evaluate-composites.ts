/** What filters say of values of composite types, member by member, and what such values show. */

import { type GraphQLInputObjectType, getNamedType, getNullableType, isEnumType, isListType } from 'graphql';
import type { Column } from '../../src/model/model.ts';
import { type ColumnType, integerType, isJson } from './column-types.ts';
import { type Comparing, compareValues } from './compare-values.ts';
import { partText } from './evaluate-json.ts';
import type { World } from './loaded-tables.ts';
import { isObject, type LoadedValue, memberOf, namesOf, noValue, type TypedName } from './loaded-values.ts';
import { RefusalError } from './property-failure.ts';
import { all, any, negate, type Truth } from './truth.ts';

type Input = Readonly<Record<string, unknown>>;
type Values = readonly (LoadedValue | undefined)[];
/** What each value answers; undefined if that is no condition. */
type Truths = readonly Truth[] | undefined;

/** A value of a composite type in a response. */
export interface CompositeSource {
  readonly kind: 'composite';
  readonly world: World;
  readonly names: readonly Column[];
  readonly attributes: readonly TypedName[];
  readonly value: LoadedValue;
}

/** A value as a response shows it, or of JSON what is at a path; what is not there is JSON's null in a field that is never null. */
export function showValue(world: World, type: ColumnType, value: LoadedValue, { path = null }: Input, isNeverNull: boolean): unknown {
  const { text, json, items } = value;
  if (text === null) return null;
  if (items) return items.map((item) => showValue(world, { ...type, isArray: false }, item, {}, false));
  if (type.isRow && isObject(world, type)) return rowOf(world, type, value);
  if (isObject(world, type)) return { kind: 'composite', world, ...namesOf(world, type), value } satisfies CompositeSource;
  if (type.isArray)
    return (json as unknown[]).map((item) => (isJson({ ...type, isArray: false }) ? showJson(world, type, item as string | null) : item));
  if (!isJson(type)) return json;
  return showJson(world, type, path === null ? text : (partText(text, path as readonly string[]) ?? (isNeverNull ? 'null' : null)));
}

/** JSON in a response: its text, if it is not that of a domain. */
export function showJson({ json }: World, { domain }: ColumnType, text: string | null): unknown {
  return (json === 'object' || domain) && text !== null ? JSON.parse(text) : text;
}

/** A value that is shown as a row of its table. */
function rowOf({ tables }: World, { composite }: ColumnType, { members }: LoadedValue) {
  const table = tables.find(({ description }) => description.name === composite!.name);
  if (!table) throw new RefusalError(composite!.name);
  return { kind: 'row', row: { table, values: members! } } as const;
}

export function memberField({ world, value, ...source }: CompositeSource, field: string, args: Input): unknown {
  const member = memberOf(world, source, 'rowFieldName', field);
  return showValue(world, member.type, member.in(value.members) ?? noValue, args, false);
}

/** What values of a type that is or has a composite type answer to a filter. Of a value that is null, all members are. */
export async function judgeParts(
  comparing: Comparing,
  values: Values,
  type: ColumnType,
  input: GraphQLInputObjectType,
  filter: Input,
): Promise<Truths> {
  const results: Truths[] = [];
  for (const [name, operand] of Object.entries(filter)) {
    const member = getNullableType(input.getFields()[name]!.type);
    if (isEnumType(member)) results.push(isNull(values, operand));
    else if (operand === null) continue;
    else if (type.isArray)
      results.push(await judgeItems(comparing, values, type, name, getNamedType(member) as GraphQLInputObjectType, operand as Input));
    else results.push(await judgeMember(comparing, values, type, input, name, operand));
  }
  return join(values, results, all);
}

async function judgeMember(
  comparing: Comparing,
  values: Values,
  type: ColumnType,
  input: GraphQLInputObjectType,
  name: string,
  operand: unknown,
): Promise<Truths> {
  const member = getNullableType(input.getFields()[name]!.type);
  // An attribute may be called like a combinator.
  if (isListType(member)) {
    const results: Truths[] = [];
    for (const item of operand as Input[]) results.push(await judgeParts(comparing, values, type, input, item));
    return join(values, results, name === 'or' ? any : all);
  }
  if (member === input) return (await judgeParts(comparing, values, type, input, operand as Input))?.map(negate);
  const part = memberOf(comparing.world, namesOf(comparing.world, type), 'filterName', name);
  const inner = values.map((value) => part.in(value?.members));
  return judgeValues(comparing, inner, part.type, member as GraphQLInputObjectType, operand as Input);
}

/** What values of any type answer to the filter of it. */
export async function judgeValues(
  comparing: Comparing,
  values: Values,
  type: ColumnType,
  input: GraphQLInputObjectType,
  filter: Input,
): Promise<Truths> {
  if (isObject(comparing.world, type)) return judgeParts(comparing, values, type, input, filter);
  const texts = values.map((value) => value?.text ?? null);
  const results: Truths[] = [];
  for (const [operator, operand] of Object.entries(filter)) results.push(await compareValues(comparing, texts, type, operator, operand));
  return join(values, results, all);
}

/** `any`, `all` and `length` of arrays, all of which are unknown of null. */
async function judgeItems(
  comparing: Comparing,
  values: Values,
  type: ColumnType,
  name: string,
  input: GraphQLInputObjectType,
  filter: Input,
): Promise<Truths> {
  if (name === 'length') {
    const lengths = values.map((value) => (value?.items ? { text: String(value.items.length), json: null, jsonb: '' } : undefined));
    return judgeValues(comparing, lengths, integerType, input, filter);
  }
  const items = values.flatMap((value) => value?.items ?? []);
  const truths = await judgeParts(comparing, items, { ...type, isArray: false }, input, filter);
  if (!truths) return undefined;
  let next = 0;
  return values.map((value) => {
    const count = value?.items?.length ?? 0;
    next += count;
    return value?.items ? (name === 'any' ? any : all)(truths.slice(next - count, next)) : null;
  });
}

function isNull(values: Values, operand: unknown): Truth[] {
  if (operand === null) throw new RefusalError('"is" takes no null');
  return values.map((value) => ((value?.text ?? null) === null) === (operand === 'NULL'));
}

function join(values: Values, results: readonly Truths[], combine: (truths: readonly Truth[]) => Truth): Truths {
  const present = results.filter((each) => each !== undefined);
  return present.length > 0 ? values.map((_, index) => combine(present.map((truths) => truths[index]!))) : undefined;
}
