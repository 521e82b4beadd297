/** Plans the groups of a connection's rows: what to group by, which groups to return, in which order, and what to read from each. */
import { ApiError } from '../errors/api-error.ts';
import type { Column, Relation, Table } from '../model/model.ts';
import { namedTypes } from '../model/types/named-types.ts';
import type { InputEntry, InputObject, InputValue } from '../request/input-value.ts';
import { argumentOf, bindingAt, type SelectedField } from '../request/operation.ts';
import { countOf, valueParameter, widthParameter } from './parameters.ts';
import type { GroupBy, GroupedBy, GroupKeyValue, GroupOrderKey, GroupsPlan, GroupValue, Member, Parameter } from './plan.ts';
import { planAggregateField } from './plan-aggregate.ts';
import { aggregateEntriesOf, planHaving } from './plan-having.ts';
import { planMembers } from './plan-members.ts';
import { noMaximum } from './plan-page.ts';

/** The most relations in a path, and the most columns to group by. Each relation is a join in one statement. */
const maxRelations = 50;
const maxColumns = 100;

/** Plans the field `groups`. Throws BAD_USER_INPUT. */
export function planGroups(field: SelectedField, table: Table): GroupsPlan {
  const given = (name: string): InputValue => argumentOf(field, name) ?? null;
  const [first, offset] = [given('first'), given('offset')];
  const zone = given('timeZone');
  const by = planBy(given('by'), zone && valueParameter(zone, namedTypes.text, 'write'));
  return {
    by,
    having: planHaving(given('having')),
    order: planOrder(given('orderBy'), by),
    limit: first ? countOf(first, 'first', table.maxRows) : table.maxRows,
    offset: offset && countOf(offset, 'offset', noMaximum),
    members: planMembers<GroupValue>(field.selection, (member) => planMember(member, by)),
  };
}

function planMember(field: SelectedField, by: readonly GroupBy[]): GroupValue {
  const binding = bindingAt('group', field);
  return binding.kind === 'key' ? { kind: 'key', members: planKey(field.selection, by, []) } : planAggregateField(field, binding);
}

function planKey(selection: readonly SelectedField[], by: readonly GroupBy[], path: readonly Relation[]): Member<GroupKeyValue>[] {
  return planMembers<GroupKeyValue>(selection, (field) => {
    const binding = bindingAt('group key', field);
    if (binding.kind === 'relation') return { kind: 'related', members: planKey(field.selection, by, [...path, binding.relation]) };
    const number = numberOf(by, path, binding.column);
    return number < 0 ? { kind: 'not grouped' } : { kind: 'grouped', number };
  });
}

/** The index of a column in `by`; -1 if rows are not grouped by it. */
function numberOf(by: readonly GroupBy[], path: readonly Relation[], column: Column): number {
  return by.findIndex(
    (each) => each.column === column && each.path.length === path.length && each.path.every((relation, index) => relation === path[index]),
  );
}

function planBy(value: InputValue, timeZone: Parameter | null): readonly GroupBy[] {
  const by: GroupBy[] = [];
  const elements = listOf(value);
  if (elements.length > maxColumns)
    throw new ApiError('QUERY_TOO_COMPLEX', `The argument "by" has more than ${maxColumns} elements. Group by fewer columns.`);
  for (const element of elements) {
    const { path, column, names, grouped } = planElement(element, timeZone);
    if (numberOf(by, path, column) >= 0)
      throw new ApiError('BAD_USER_INPUT', `The argument "by" names "${names.join('.')}" twice. Name it once.`);
    by.push({ path, column, ...grouped });
  }
  if (by.length === 0) throw new ApiError('BAD_USER_INPUT', 'The argument "by" is empty. Name at least one column.');
  return by;
}

interface Element {
  readonly path: readonly Relation[];
  readonly column: Column;
  /** The field names that lead to the column. */
  readonly names: readonly string[];
  readonly grouped: GroupedBy;
}

function planElement(element: InputValue, timeZone: Parameter | null): Element {
  const path: Relation[] = [];
  const names: string[] = [];
  for (let entry = onlyEntry(element, 'by'); ; entry = onlyEntry(entry.value, 'by')) {
    const { name, value } = entry;
    const binding = bindingAt('group by', entry);
    if (binding.kind === 'bucket') {
      const bucket = onlyEntry(value, 'by');
      const { column } = bindingAt('bucket', bucket);
      return { path, column, names: [...names, bucket.name], grouped: { kind: 'bucket', width: widthParameter(bucket.value) } };
    }
    names.push(name);
    if (binding.kind === 'column') {
      if (value?.kind !== 'choice') throw new Error('A column is grouped by nothing.');
      const unit = value.name.toLowerCase();
      return { path, column: binding.column, names, grouped: unit === 'value' ? { kind: 'value' } : { kind: 'truncated', unit, timeZone } };
    }
    path.push(binding.relation);
    if (path.length > maxRelations)
      throw new ApiError('QUERY_TOO_COMPLEX', `The argument "by" nests relations more than ${maxRelations} levels deep. Use fewer levels.`);
  }
}

/** The only non-null entry of an object. */
function onlyEntry(element: InputValue, argument: string): InputEntry {
  const [entry, ...others] = objectOf(element, argument).entries.filter(({ value }) => value !== null);
  if (!entry || others.length > 0) throw severalKeys(argument);
  return entry;
}

function severalKeys(argument: string): ApiError {
  const advice = 'Write [{a: …}, {b: …}] instead of [{a: …, b: …}].';
  return new ApiError('BAD_USER_INPUT', `Each element of "${argument}" must have one key. ${advice}`);
}

function objectOf(value: InputValue, argument: string): InputObject {
  if (value?.kind !== 'object') throw new ApiError('BAD_USER_INPUT', `Each element of "${argument}" must be an object with one key.`);
  return value;
}

function listOf(value: InputValue): readonly InputValue[] {
  if (value === null) return [];
  return value.kind === 'list' ? value.items : [value];
}

/** The requested order, then the remaining keys, which make it total. */
function planOrder(value: InputValue, by: readonly GroupBy[]): readonly GroupOrderKey[] {
  const requested = listOf(value).flatMap((element) => {
    const keys = objectOf(element, 'orderBy').entries.filter((entry) => entry.value !== null);
    if (keys.length > 1) throw severalKeys('orderBy');
    return keys.flatMap((entry) => planOrderKey(entry, by));
  });
  const ordered = new Set(requested.map(({ of }) => (of.kind === 'key' ? of.number : -1)));
  const rest = by.flatMap((_, number): GroupOrderKey[] =>
    ordered.has(number) ? [] : [{ of: { kind: 'key', number }, descending: false, nullsFirst: false }],
  );
  return [...requested, ...rest];
}

function planOrderKey(entry: InputEntry, by: readonly GroupBy[]): GroupOrderKey[] {
  const { value } = entry;
  const binding = bindingAt('group order', entry);
  switch (binding.kind) {
    case 'count':
      return [{ of: { kind: 'count' }, ...directionOf(value) }];
    case 'aggregate function': {
      const entries = aggregateEntriesOf(binding.name, objectOf(value, 'orderBy'));
      if (entries.length > 1) throw severalKeys('orderBy');
      return entries.map(({ of, value: direction }) => ({ of, ...directionOf(direction) }));
    }
    case 'key':
      return planOrderOfKey(value, by, [], []);
  }
}

function planOrderOfKey(value: InputValue, by: readonly GroupBy[], path: readonly Relation[], names: readonly string[]): GroupOrderKey[] {
  const entries = objectOf(value, 'orderBy').entries.filter((entry) => entry.value !== null);
  if (entries.length > 1) throw severalKeys('orderBy');
  return entries.flatMap((entry) => {
    const named = [...names, entry.name];
    const binding = bindingAt('group key order', entry);
    if (binding.kind === 'relation') return planOrderOfKey(entry.value, by, [...path, binding.relation], named);
    const number = numberOf(by, path, binding.column);
    if (number >= 0) return [{ of: { kind: 'key', number }, ...directionOf(entry.value) }];
    const problem = `The argument "orderBy" names "${named.join('.')}", which is not in "by".`;
    throw new ApiError('BAD_USER_INPUT', `${problem} Add it to "by", or order by something else.`);
  });
}

function directionOf(value: InputValue): { readonly descending: boolean; readonly nullsFirst: boolean } {
  if (value?.kind !== 'choice') throw new Error('An order key has no direction.');
  return { descending: value.name.startsWith('Desc'), nullsFirst: value.name.endsWith('First') };
}
