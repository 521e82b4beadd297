/** Random mutations: inserts, updates and deletes of one to three fields, with what they wrote selected. */
import {
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { tableByType, type World } from './loaded-tables.ts';
import { holdsRelatedRows, isOfRelation } from './nested-inputs.ts';
import { NestedMaker } from './random-nested.ts';
import type { RandomOperation, SelectionMaker } from './random-selection.ts';
import { givenOnce } from './random-values.ts';

type Field = GraphQLField<unknown, unknown>;

/** A mutation, or undefined where the role may write nothing. */
export function randomMutation(maker: SelectionMaker, schema: GraphQLSchema, world: World): RandomOperation | undefined {
  const all = Object.values(schema.getMutationType()?.getFields() ?? {});
  const fields = all.filter(
    ({ name, type }) => world.writers.has(name) || 'records' in (getNamedType(type) as GraphQLObjectType).getFields(),
  );
  if (fields.length === 0) return undefined;
  const count = maker.random.pick([1, 1, 1, 2, 3]);
  const parts = Array.from({ length: count }, () => mutationField(maker, maker.random.pick(fields), world)).filter(
    (part) => part !== undefined,
  );
  if (parts.length === 0) return undefined;
  const query = maker.writer.document('mutation', `{ ${parts.map(({ text }) => text).join(' ')} }`);
  return { query, variables: maker.writer.variables, isNested: parts.some(({ isNested }) => isNested) };
}

interface MutationPart {
  readonly text: string;
  readonly isNested: boolean;
}

/** Undefined for a function without arguments to take. */
function mutationField(maker: SelectionMaker, field: Field, world: World): MutationPart | undefined {
  const { random, writer } = maker;
  const returned = getNamedType(field.type);
  if (world.writers.has(field.name)) {
    const text = maker.field(field, 2);
    return text === undefined ? undefined : { text, isNested: false };
  }
  const typeName = getNamedType(field.type).name;
  const given = argumentsOf(maker, field, typeName, world);
  const typeOf = (name: string) => field.args.find((argument) => argument.name === name)!.type;
  const args = given.map(([name, value]) => `${name}: ${writer.value(typeOf(name), value)}`);
  const isNested = given.some(([name, value]) => {
    const type = getNamedType(typeOf(name));
    // So is what is not as a shape says.
    return (
      JSON.stringify(value).includes('Shape":') ||
      ((name === 'objects' || name === 'set') &&
        isInputObjectType(type) &&
        holdsRelatedRows(type, [value as Record<string, unknown>].flat()))
    );
  });
  const parts = random.chance(0.8) ? ['affectedCount'] : ['__typename'];
  if (random.chance(0.75)) parts.push(recordsOf(maker, field));
  if (isObjectType(returned) && returned.getFields().query && random.chance(0.15)) parts.push(`query ${maker.querySelection(2)}`);
  const text = `${writer.alias(field.name, true)}${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''} { ${random.shuffled(parts).join(' ')} }`;
  return { text, isNested };
}

/** The records, with a column or nodeId that is always read: which policies apply depends on whether anything is read. */
function recordsOf(maker: SelectionMaker, field: Field): string {
  const response = getNamedType(field.type) as GraphQLObjectType;
  const type = getNamedType(response.getFields().records!.type) as GraphQLObjectType;
  const inner = maker.selection(type, 1);
  const column = Object.values(type.getFields()).find(
    (field) =>
      field.name !== 'nodeId' &&
      field.args.length === 0 &&
      isLeafType(getNamedType(field.type)) &&
      maker.examples.isColumn(type.name, field.name),
  );
  return `records { ${column ? column.name : 'nodeId'} ... on ${type.name} ${inner} }`;
}

function argumentsOf(maker: SelectionMaker, field: Field, typeName: string, world: World): [name: string, value: unknown][] {
  const { random } = maker;
  const table = tableByType(world, typeName);
  const typeOf = (name: string) => getNamedType(field.args.find((argument) => argument.name === name)!.type) as GraphQLInputObjectType;
  if (field.args.some(({ name }) => name === 'objects')) {
    const isNested = NestedMaker.isNested(typeOf('objects')) && !table.description.view && random.chance(0.6);
    if (isNested) {
      const nested = new NestedMaker(maker, world);
      return [['objects', Array.from({ length: random.pick([1, 1, 2, 3]) }, () => nested.insertObject(typeOf('objects'), table, 2))]];
    }
    const isUpsert = field.args.some(({ name }) => name === 'onConflict') && random.chance(0.5);
    const isNew = isUpsert ? 0.25 : 1;
    const rows = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => randomInput(maker, typeOf('objects'), typeName, 0.75, isNew));
    return [
      ['objects', rows],
      ...(isUpsert ? [['onConflict', randomConflict(maker, typeOf('onConflict'), typeName)] as [string, unknown]] : []),
    ];
  }
  const given: [string, unknown][] = [];
  const isUpdate = field.args.some(({ name }) => name === 'set');
  const isNested = isUpdate && NestedMaker.isNested(typeOf('set')) && !table.description.view && random.chance(0.6);
  if (isUpdate)
    given.push([
      'set',
      isNested ? new NestedMaker(maker, world).updateObject(typeOf('set'), table, 2) : randomInput(maker, typeOf('set'), typeName, 0.35),
    ]);
  if (!isNested && field.args.some(({ name }) => name === 'increment') && random.chance(0.4)) {
    const set = random.chance(0.5) ? {} : (given.pop()![1] as Record<string, unknown>);
    given.splice(0, 1, ['set', set], ['increment', randomIncrement(maker, typeOf('increment'), Object.keys(set))]);
  }
  const json = field.args.find(({ name }) => name === 'json');
  if (json && random.chance(0.6)) addChanges(maker, given, json, typeName);
  if (random.chance(0.85)) given.push(['filter', maker.values.restriction(typeOf('filter'), typeName)]);
  if (random.chance(0.8)) given.push(['atMost', random.pick([0, 1, 3, 5, 100, 100, 100])]);
  return given;
}

/** Adds changes of documents that are not set, with what is set or without. */
function addChanges({ random, values }: SelectionMaker, given: [string, unknown][], json: GraphQLArgument, typeName: string): void {
  const isAlone = random.chance(0.5);
  const set = isAlone ? {} : (given[0]![1] as Record<string, unknown>);
  const changes = values.changes(json.type, typeName, set);
  if (!changes) return;
  if (isAlone) given.splice(0, given.length, ['set', set]);
  given.push(['json', changes]);
}

/** What becomes of rows that are already there. */
function randomConflict(maker: SelectionMaker, type: GraphQLInputObjectType, typeName: string): Record<string, unknown> {
  const { random, values } = maker;
  const { constraint, updateColumns, increment, filter } = type.getFields();
  const namesOf = (field: GraphQLInputField) => (getNamedType(field.type) as GraphQLEnumType).getValues().map(({ name }) => name);
  const columns = updateColumns ? random.sample(namesOf(updateColumns), random.pick([0, 1, 1, 2, 3])) : [];
  // A field called `true` is `_true` among the values of an enum.
  const set = columns.flatMap((name) => [name, name.replace(/^_/, '')]);
  const added =
    increment && random.chance(0.3) ? randomIncrement(maker, getNamedType(increment.type) as GraphQLInputObjectType, set) : null;
  const isFiltered = filter && random.chance(0.35);
  return {
    constraint: random.pick(namesOf(constraint!)),
    ...(updateColumns && { updateColumns: columns }),
    ...(added && { increment: added }),
    ...(isFiltered && { filter: values.restriction(getNamedType(filter.type) as GraphQLInputObjectType, typeName) }),
  };
}

/** What is added to fields that are not set; at least one, if none is set: that nothing is to be updated is found before an earlier field fails. */
function randomIncrement({ random }: SelectionMaker, type: GraphQLInputObjectType, set: readonly string[]): Record<string, unknown> {
  const free = Object.values(type.getFields()).filter(({ name }) => !set.includes(name));
  const chosen = random.sample(free, set.length === 0 ? 1 : random.integer(0, 2));
  const amounts = [0, 1, 1, -1, 2, 7, ...(set.length > 0 ? [null] : [])];
  return Object.fromEntries(
    chosen.map((field) => {
      // Of times.
      if (String(field.type) === 'Opaque') return [field.name, random.pick(['1 day', '-1 month', '00:00:01.5', '0', 2])];
      const amount = random.pick(amounts);
      return [field.name, amount === null || !String(field.type).startsWith('Big') ? amount : String(amount)];
    }),
  );
}

/** An object with a share of the fields that are columns, and values of which a share is mostly not there yet. */
function randomInput(
  maker: SelectionMaker,
  type: GraphQLInputObjectType,
  typeName: string,
  share: number,
  isNew = 1,
): Record<string, unknown> {
  const { random, values } = maker;
  const fields = Object.values(type.getFields()).filter((field) => !isOfRelation(field));
  const chosen = random.subset(fields, share);
  // That a column is given twice is found before an earlier field fails.
  const once = givenOnce(chosen);
  const present = once.length > 0 ? once : [random.pick(fields)];
  return Object.fromEntries(
    present.map((field) => {
      const value = random.chance(0.12) ? null : values.value(field.type, typeName, field.name);
      return [field.name, random.chance(isNew) ? newValue(maker, value) : value];
    }),
  );
}

/** Numbers that are mostly not there yet, so that inserts succeed. */
function newValue({ random }: SelectionMaker, value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value) && random.chance(0.6)) return random.integer(100, 30000);
  return typeof value === 'string' && /^\d{1,3}$/.test(value) && random.chance(0.5) ? String(random.integer(100, 30000)) : value;
}
