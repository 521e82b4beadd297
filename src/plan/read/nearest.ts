/** Plans the argument `nearest`: the rows with a distance, the nearest first. */
import { ApiError, quote } from '../../errors/api-error.ts';
import type { Column, MeasuredColumn, Table } from '../../model/model.ts';
import { forms } from '../../model/types/metrics.ts';
import { namedTypes } from '../../model/types/named-types.ts';
import { bindingAt, type InputEntry, type InputValue, type SelectedField, valueAt } from '../../request/operation.ts';
import type { Distance, Filter, OrderKey } from '../conditions.ts';
import { keyOfNodeId, objectOf, parameterValue, valueParameter } from '../inputs.ts';
import type { Parameter } from '../parameter.ts';

export interface Nearest {
  /** Comes before the keys of `orderBy`. */
  readonly key: OrderKey;
  readonly filter: Filter;
  readonly distance: Distance;
}

/** Plans it; null if it is absent, null or empty. Throws BAD_USER_INPUT. */
export function planNearest(field: SelectedField, table: Table): Nearest | null {
  const value = valueAt(field.arguments, 'collection', 'nearest');
  if (value === null) return null;
  const entries = objectOf(value).entries.filter((entry) => entry.value !== null);
  const within = valueAt(entries, 'nearest', 'within');
  const [entry, another] = entries.filter((each) => bindingAt('nearest', each).kind !== 'within');
  if (another) throw new ApiError('BAD_USER_INPUT', 'The argument "nearest" measures one column. Give only one.');
  if (!entry) {
    if (within === null) return null;
    throw new ApiError('BAD_USER_INPUT', 'The bound "within" in "nearest" is of a distance. Give the value that it is measured from, too.');
  }
  const distance = planDistance(entry, table);
  const bounded: Filter = { kind: 'distance', distance, within: within && valueParameter(within, namedTypes.float8, 'filter') };
  return {
    key: { value: { kind: 'distance', distance }, descending: false, nullsFirst: false },
    distance,
    filter: 'kind' in distance.from ? { kind: 'and', filters: [bounded, isAnother(distance.from.key)] } : bounded,
  };
}

/** Whether a row is not the one with this key. */
function isAnother(key: Extract<Distance['from'], { kind: 'row' }>['key']): Filter {
  const equal = key.map(({ column, parameter }): Filter => ({ kind: 'comparison', column, operator: 'eq', parameter }));
  return { kind: 'not', filter: equal.length === 1 ? equal[0]! : { kind: 'and', filters: equal } };
}

function planDistance(entry: InputEntry, table: Table): Distance {
  const binding = bindingAt('nearest', entry);
  if (binding.kind !== 'column' || binding.column.measured === null) throw new Error(`"${entry.name}" has no distances.`);
  const { column } = binding;
  const { measured } = binding.column;
  const given = objectOf(entry.value).entries.filter(({ value }) => value !== null);
  const metric = valueAt(given, 'nearest to', 'metric');
  const [from, another] = given.filter((each) => bindingAt('nearest to', each).kind !== 'metric');
  if (!from || another) {
    const isText = measured.form === 'text' || measured.form === 'place';
    const members = isText ? '"to" and "nearestTo"' : '"to", "text" and "nearestTo"';
    const problem = from ? `only one of ${members} can be given` : `nothing says what distances are measured from`;
    const whole = measured.form === 'text' ? 'text' : 'geometry';
    const wanted = isText
      ? `Give a ${whole} or a nodeId.`
      : `Give a ${measured.form === 'shape' ? 'point' : 'vector'}, its text, or a nodeId.`;
    throw new ApiError('BAD_USER_INPUT', `For ${quote(entry.name)} in "nearest", ${problem}. ${wanted}`);
  }
  const [usual, ...others] = forms[measured.form].metrics;
  const named = metric?.kind === 'choice' ? others.find((each) => each === metric.name) : undefined;
  return { column, measured, metric: named ?? usual!, from: planOrigin(from, column, measured, table) };
}

function planOrigin(from: InputEntry, column: Column, measured: MeasuredColumn, table: Table): Distance['from'] {
  const { value } = from;
  switch (bindingAt('nearest to', from).kind) {
    case 'nearest to':
      return { kind: 'row', table, key: keyOfNodeId(value, table, 'nearest') };
    case 'text':
      return valueParameter(value, namedTypes.text, 'filter');
    default:
      return originParameter(value, column, measured);
  }
}

function originParameter(value: InputValue, { fieldName, type }: Column, { form, dimensions }: MeasuredColumn): Parameter {
  const from = parameterValue(value);
  if (form === 'text') return { value: from, encoding: { kind: 'search', asPrefixes: false } };
  if (form === 'place') return { value: from, encoding: { kind: 'value', type, use: 'filter' } };
  return { value: from, encoding: { kind: 'vector', form, dimensions, name: fieldName } };
}
