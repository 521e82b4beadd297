/** Plans conditions on groups: `having: {count: {gt: 10}, sum: {price: {lt: "5"}}}`. As in filters, empty objects are no conditions. */
import { ApiError } from '../errors/api-error.ts';
import type { ScalarType } from '../model/model.ts';
import { namedTypes } from '../model/types/named-types.ts';
import type { AggregateFunction } from '../model/types/postgres-types.ts';
import type { InputEntry, InputObject, InputValue } from '../request/input-value.ts';
import { bindingAt } from '../request/operation.ts';
import { fractionParameter, valueParameter } from './parameters.ts';
import type { GroupAggregate, GroupCondition } from './plan.ts';

/** Plans a condition; null if it is empty. Throws BAD_USER_INPUT. */
export function planHaving(value: InputValue): GroupCondition | null {
  return value === null ? null : combine('and', objectOf(value).entries.map(planEntry));
}

/** An aggregate of a column, with its entry in an input (tests or a direction). */
export interface AggregateEntry {
  readonly of: GroupAggregate;
  readonly value: InputValue;
}

/** The entries of an input for an aggregate function: `{price: …}`, or for percentiles `{fraction: 0.5, price: …}`. Skips nulls. */
export function aggregateEntriesOf(name: AggregateFunction, { entries }: InputObject): readonly AggregateEntry[] {
  const given = entries.find(({ binding }) => binding?.kind === 'fraction');
  const fraction = given ? fractionParameter(given.value, given.name) : null;
  return entries
    .filter(({ value }) => value !== null)
    .flatMap((entry) => {
      const binding = bindingAt('group column', entry);
      return binding.kind === 'column' ? [{ of: { kind: 'function', name, column: binding.column, fraction }, value: entry.value }] : [];
    });
}

function planEntry(entry: InputEntry): GroupCondition | null {
  const { value } = entry;
  if (value === null) return null;
  const binding = bindingAt('having', entry);
  switch (binding.kind) {
    case 'count':
      return planTests({ kind: 'count' }, value);
    case 'aggregate function':
      return combine(
        'and',
        aggregateEntriesOf(binding.name, objectOf(value)).map(({ of, value: tests }) => planTests(of, tests)),
      );
    case 'and':
    case 'or':
      return combine(binding.kind, (value.kind === 'list' ? value.items : [value]).map(planHaving));
    case 'not': {
      const condition = planHaving(value);
      return condition && { kind: 'not', condition };
    }
  }
}

function planTests(of: GroupAggregate, value: InputValue): GroupCondition | null {
  return combine(
    'and',
    objectOf(value).entries.map((entry) => planTest(of, entry)),
  );
}

function planTest(of: GroupAggregate, entry: InputEntry): GroupCondition {
  const { value } = entry;
  const binding = bindingAt('operators', entry);
  if (binding.kind === 'operator') {
    const type = comparedType(of);
    return { kind: 'comparison', of, operator: binding.operator, type, parameter: valueParameter(value, type, 'filter') };
  }
  if (value?.kind !== 'choice') throw new ApiError('BAD_USER_INPUT', 'The operator "is" must be NULL or NOT_NULL.');
  return { kind: 'null test', of, isNull: value.name === 'NULL' };
}

/** The type that an aggregate is compared as, which can hold all its values. */
function comparedType(of: GroupAggregate): ScalarType {
  if (of.kind === 'count' || of.column.type.kind !== 'scalar') return namedTypes.int4;
  const { type } = of.column;
  const { number, time, extremes } = type.traits;
  switch (of.name) {
    case 'countDistinct':
      return namedTypes.int4;
    case 'sum':
      return number ? namedTypes[number.sum.comparedAs] : namedTypes.numeric;
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
      return namedTypes.numeric;
  }
}

function objectOf(value: InputValue): InputObject {
  if (value?.kind !== 'object') throw new ApiError('BAD_USER_INPUT', 'Expected an object in the argument "having".');
  return value;
}

function combine(kind: 'and' | 'or', conditions: readonly (GroupCondition | null)[]): GroupCondition | null {
  const present = conditions.filter((condition) => condition !== null);
  return present.length > 1 ? { kind, conditions: present } : (present[0] ?? null);
}
