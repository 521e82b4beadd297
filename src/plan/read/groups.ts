/**
 * Plans aggregates, and the groups of a connection's rows: what to group by, which groups to return, in which order, what to read of each.
 */
import { ApiError } from '../../errors/api-error.ts';
import type { Column, Table } from '../../model/model.ts';
import { namedTypes, operandScalar } from '../../model/types/named-types.ts';
import type { AggregateFunction } from '../../model/types/postgres-types.ts';
import type { ScalarType } from '../../model/value-type.ts';
import {
  argumentOf,
  bindingAt,
  type InputEntry,
  type InputObject,
  type InputValue,
  type SelectedField,
  valueAt,
} from '../../request/operation.ts';
import type { AggregateBinding, MembersBinding, RelationBinding } from '../../schema/bindings.ts';
import {
  countOf,
  directionOf,
  listOf,
  numberParameter,
  objectOf,
  onlyEntryOf,
  pathParameter,
  planJsonPath,
  planMembers,
  planTest,
  severalKeys,
  valueParameter,
  widthParameter,
} from '../inputs.ts';
import type { Parameter } from '../parameter.ts';
import type {
  AggregateColumnValue,
  AggregateValue,
  GroupAggregate,
  GroupBy,
  GroupCondition,
  GroupedBy,
  GroupKeyValue,
  GroupOrderKey,
  GroupPlace,
  GroupsPlan,
  GroupValue,
  Member,
} from '../plan.ts';
import { noMaximum } from './page.ts';

/** The most relations in a path, and the most columns to group by. Each relation is a join in one statement. */
const maxRelations = 50;
const maxColumns = 100;

/** Plans the field `groups`. Throws BAD_USER_INPUT. */
export function planGroups(field: SelectedField, table: Table): GroupsPlan {
  const argument = (name: string): InputValue => argumentOf(field, name) ?? null;
  const [first, offset] = [argument('first'), argument('offset')];
  const zone = argument('timeZone');
  const by = planBy(argument('by'), zone && valueParameter(zone, namedTypes.text, 'write'));
  return {
    by,
    having: planHaving(argument('having')),
    order: planOrder(argument('orderBy'), by),
    limit: first ? countOf(first, 'first', table.maxRows) : table.maxRows,
    offset: offset && countOf(offset, 'offset', noMaximum),
    members: planMembers<GroupValue>(field.selection, (member) => planMember(member, by)),
  };
}

function planMember(field: SelectedField, by: readonly GroupBy[]): GroupValue {
  const binding = bindingAt('group', field);
  return binding.kind === 'key' ? { kind: 'key', members: planKey(field.selection, by, nowhere) } : planAggregateField(field, binding);
}

const nowhere: GroupPlace = { path: [], within: [] };

/** The place that a relation leads to, or the members of a column. */
function further({ path, within }: GroupPlace, binding: RelationBinding | MembersBinding): GroupPlace {
  return binding.kind === 'relation' ? { path: [...path, binding.relation], within } : { path, within: [...within, binding.column] };
}

function planKey(selection: readonly SelectedField[], by: readonly GroupBy[], place: GroupPlace): Member<GroupKeyValue>[] {
  return planMembers<GroupKeyValue>(selection, (field) => {
    const binding = bindingAt('group key', field);
    if (binding.kind === 'relation' || binding.kind === 'members')
      return { kind: 'inside', members: planKey(field.selection, by, further(place, binding)) };
    const number =
      binding.kind === 'json value'
        ? pathIn(by, place, binding.column, argumentOf(field, 'path') ?? null)
        : numberOf(by, place, binding.column);
    return number < 0 ? { kind: 'not grouped' } : { kind: 'grouped', number };
  });
}

/** The index of a column in `by`; -1 if rows are not grouped by it. */
function numberOf(by: readonly GroupBy[], place: GroupPlace, column: Column): number {
  return by.findIndex((each) => each.kind !== 'json value' && isOf(each, place, column));
}

function isOf(by: GroupBy, { path, within }: GroupPlace, column: Column): boolean {
  return by.column === column && isSame(by.path, path) && isSame(by.within, within);
}

function isSame<Step>(one: readonly Step[], other: readonly Step[]): boolean {
  return one.length === other.length && one.every((step, index) => step === other[index]);
}

/** The index of a path of a JSON column in `by`, of the only one without `keys`; -1 if there is none. Throws if it is not known which. */
function pathIn(by: readonly GroupBy[], place: GroupPlace, column: Column, keys: InputValue): number {
  const wanted = keys && identityOf(pathParameter(keys));
  const found = [...by.keys()].filter(
    (number) =>
      by[number]!.kind === 'json value' && isOf(by[number]!, place, column) && (wanted === null || wanted === identityOfGroup(by[number]!)),
  );
  if (found.length > 1)
    throw new ApiError('BAD_USER_INPUT', `The argument "by" has several paths of "${column.rowFieldName}". Say which with "path".`);
  return found[0] ?? -1;
}

/** Equal for paths that are written alike. */
function identityOf({ value }: Parameter): string {
  return JSON.stringify(value);
}

function identityOfGroup(by: GroupedBy): string | null {
  return by.kind === 'json value' ? identityOf(by.keys) : null;
}

function planBy(value: InputValue, timeZone: Parameter | null): readonly GroupBy[] {
  const by: GroupBy[] = [];
  const elements = listOf(value);
  if (elements.length > maxColumns)
    throw new ApiError('QUERY_TOO_COMPLEX', `The argument "by" has more than ${maxColumns} elements. Group by fewer columns.`);
  for (const element of elements) {
    const { place, column, names, grouped } = planElement(element, timeZone);
    if (by.some((each) => isOf(each, place, column) && identityOfGroup(each) === identityOfGroup(grouped)))
      throw new ApiError('BAD_USER_INPUT', `The argument "by" names "${names.join('.')}" twice. Name it once.`);
    by.push({ ...place, column, ...grouped });
  }
  if (by.length === 0) throw new ApiError('BAD_USER_INPUT', 'The argument "by" is empty. Name at least one column.');
  return by;
}

interface Element {
  readonly place: GroupPlace;
  readonly column: Column;
  readonly names: readonly string[];
  readonly grouped: GroupedBy;
}

function planElement(element: InputValue, timeZone: Parameter | null): Element {
  let place = nowhere;
  const names: string[] = [];
  for (let entry = onlyKey(element); ; entry = onlyKey(entry.value)) {
    const { name, value } = entry;
    const binding = bindingAt('group by', entry);
    if (binding.kind === 'bucket') {
      const bucket = onlyKey(value);
      const { column } = bindingAt('bucket', bucket);
      return { place, column, names: [...names, bucket.name], grouped: { kind: 'bucket', width: widthParameter(bucket.value) } };
    }
    names.push(name);
    if (binding.kind === 'column') {
      if (value?.kind !== 'choice') throw new Error('A column is grouped by nothing.');
      const unit = value.name.toLowerCase();
      return {
        place,
        column: binding.column,
        names,
        grouped: unit === 'value' ? { kind: 'value' } : { kind: 'truncated', unit, timeZone },
      };
    }
    if (binding.kind === 'json value') {
      const { keys, as } = planJsonPath(value);
      return { place, column: binding.column, names, grouped: { kind: 'json value', keys, as } };
    }
    place = further(place, binding);
    if (place.path.length > maxRelations)
      throw new ApiError('QUERY_TOO_COMPLEX', `The argument "by" nests relations more than ${maxRelations} levels deep. Use fewer levels.`);
  }
}

function onlyKey(value: InputValue): InputEntry {
  const entry = onlyEntryOf(value, 'by');
  if (!entry) throw severalKeys('by');
  return entry;
}

/** The requested order, then the remaining keys, which make it total. */
function planOrder(value: InputValue, by: readonly GroupBy[]): readonly GroupOrderKey[] {
  const requested = listOf(value).flatMap((element) => {
    const entry = onlyEntryOf(element, 'orderBy');
    return (entry && planOrderKey(entry, by)) ?? [];
  });
  const ordered = new Set(requested.map(({ of }) => (of.kind === 'key' ? of.number : -1)));
  const rest = by.flatMap((_, number): GroupOrderKey[] =>
    ordered.has(number) ? [] : [{ of: { kind: 'key', number }, descending: false, nullsFirst: false }],
  );
  return [...requested, ...rest];
}

function planOrderKey(entry: InputEntry, by: readonly GroupBy[]): GroupOrderKey | undefined {
  const { value } = entry;
  const binding = bindingAt('group order', entry);
  switch (binding.kind) {
    case 'count':
      return { of: { kind: 'count' }, ...directionOf(value) };
    case 'aggregate function': {
      const [only, another] = aggregateEntriesOf(binding.name, objectOf(value));
      if (another) throw severalKeys('orderBy');
      return only && { of: only.of, ...directionOf(only.value) };
    }
    case 'key':
      return planOrderOfKey(value, by, nowhere, []);
  }
}

function planOrderOfKey(value: InputValue, by: readonly GroupBy[], place: GroupPlace, names: readonly string[]): GroupOrderKey | undefined {
  const entry = onlyEntryOf(value, 'orderBy');
  if (!entry) return undefined;
  const named = [...names, entry.name];
  const binding = bindingAt('group key order', entry);
  if (binding.kind === 'relation' || binding.kind === 'members') return planOrderOfKey(entry.value, by, further(place, binding), named);
  const ofJson = binding.kind === 'json value' ? planKeyOrder(entry.value) : null;
  const number = ofJson ? pathIn(by, place, binding.column, ofJson.path) : numberOf(by, place, binding.column);
  if (number >= 0) return { of: { kind: 'key', number }, ...directionOf(ofJson ? ofJson.direction : entry.value) };
  const problem = `The argument "orderBy" names "${named.join('.')}", which is not in "by".`;
  throw new ApiError('BAD_USER_INPUT', `${problem} Add it to "by", or order by something else.`);
}

function planKeyOrder(value: InputValue): { readonly path: InputValue; readonly direction: InputValue } {
  const { entries } = objectOf(value);
  return { path: valueAt(entries, 'json value', 'path'), direction: valueAt(entries, 'json value', 'direction') };
}

/** Plans conditions on groups, `{count: {gt: 10}, sum: {price: {lt: "5"}}}`; null if there are none. */
function planHaving(value: InputValue): GroupCondition | null {
  return value === null ? null : combine('and', objectOf(value).entries.map(planCondition));
}

function planCondition(entry: InputEntry): GroupCondition | null {
  const { value } = entry;
  if (value === null) return null;
  const binding = bindingAt('having', entry);
  switch (binding.kind) {
    case 'count':
      return planTests({ kind: 'count' }, value);
    case 'aggregate function': {
      const entries = aggregateEntriesOf(binding.name, objectOf(value));
      return combine(
        'and',
        entries.map(({ of, value: tests }) => planTests(of, tests)),
      );
    }
    case 'and':
    case 'or':
      return combine(binding.kind, listOf(value).map(planHaving));
    case 'not': {
      const condition = planHaving(value);
      return condition && { kind: 'not', condition };
    }
  }
}

function planTests(of: GroupAggregate, value: InputValue): GroupCondition | null {
  const type = comparedType(of);
  return combine(
    'and',
    objectOf(value).entries.map((entry): GroupCondition => ({ of, type, ...planTest(entry, type) })),
  );
}

function combine(kind: 'and' | 'or', conditions: readonly (GroupCondition | null)[]): GroupCondition | null {
  const present = conditions.filter((condition) => condition !== null);
  return present.length > 1 ? { kind, conditions: present } : (present[0] ?? null);
}

/** The aggregates of columns in an input: `{price: …}`, or for percentiles `{fraction: 0.5, price: …}`. Skips nulls. */
function aggregateEntriesOf(
  name: AggregateFunction,
  { entries }: InputObject,
): readonly { readonly of: GroupAggregate; readonly value: InputValue }[] {
  const entry = entries.find(({ binding }) => binding?.kind === 'fraction');
  const fraction = entry ? numberParameter(entry.value, entry.name, 1) : null;
  return entries
    .filter(({ value }) => value !== null)
    .flatMap((entry) => {
      const binding = bindingAt('group column', entry);
      return binding.kind === 'column' ? [{ of: { kind: 'function', name, column: binding.column, fraction }, value: entry.value }] : [];
    });
}

/** The type that an aggregate is compared as, which can hold all its values. */
function comparedType(of: GroupAggregate): ScalarType {
  if (of.kind === 'count' || of.column.type.kind !== 'scalar') return namedTypes.int4;
  const type = operandScalar(of.column.type);
  const { number, time, extremes } = type.traits;
  switch (of.name) {
    case 'countDistinct':
      return namedTypes.int4;
    case 'sum':
      return number ? namedTypes[number.sum.comparedAs] : type;
    case 'min':
    case 'max':
      return extremes === 'of text' ? namedTypes.text : type;
    case 'boolAnd':
    case 'boolOr':
      return type;
    case 'percentile':
      if (time === null) return namedTypes.float8;
      return time.isDate ? namedTypes.timestamp : type;
    default:
      return number ? namedTypes.numeric : type;
  }
}

export function planAggregate(selection: readonly SelectedField[]): Member<AggregateValue>[] {
  return planMembers<AggregateValue>(selection, (field) => planAggregateField(field, bindingAt('aggregate', field)));
}

function planAggregateField(field: SelectedField, binding: AggregateBinding): AggregateValue {
  if (binding.kind === 'count') return { kind: 'count' };
  const { name } = binding;
  const argument = argumentOf(field, 'fraction');
  const fraction = argument === undefined ? null : numberParameter(argument, 'fraction', 1);
  const members = planMembers<AggregateColumnValue>(field.selection, (member) => {
    return { kind: 'column', name, column: bindingAt('aggregate column', member).column, fraction };
  });
  return { kind: 'function', name, members };
}
