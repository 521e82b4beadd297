/** Plans filters. Empty objects and lists are no conditions, as in pg_graphql; comparisons with null match nothing. */
import { ApiError } from '../../errors/api-error.ts';
import type { Column, Table } from '../../model/model.ts';
import type { RelatedRows } from '../../model/relations/related-rows.ts';
import { namedTypes, operandType, rangesOf } from '../../model/types/named-types.ts';
import { type JsonOperator, jsonOperators, rangeOperators } from '../../model/types/operators.ts';
import { bindingAt, type InputEntry, type InputObject, type InputValue, valueAt } from '../../request/operation.ts';
import type { Filter } from '../conditions.ts';
import {
  isNullOf,
  isUnsent,
  keyOfNodeId,
  listOf,
  numberParameter,
  objectOf,
  partsOf,
  planTest,
  planTests,
  rangeValue,
  valueParameter,
  withoutNulls,
} from '../inputs.ts';
import { planSearch } from './search.ts';

const maxDepth = 50;

/**
 * The depth inside a relation at `depth` of a filter or an order: each is a subquery inside the previous one, and PostgreSQL plans them
 * together. Throws QUERY_TOO_COMPLEX.
 */
export function deeper(what: 'filter' | 'ordering', depth: number): number {
  if (depth < maxDepth) return depth + 1;
  throw new ApiError('QUERY_TOO_COMPLEX', `The ${what} nests relations more than ${maxDepth} levels deep. Use fewer levels.`);
}

/** Plans a filter; null if it has no conditions. `depth` counts the relations around it. Throws BAD_USER_INPUT. */
export function planFilter(value: InputValue | undefined, table: Table, depth = 0): Filter | null {
  if (value === undefined || value === null) return null;
  return combine(
    'and',
    objectOf(value).entries.map((entry) => planEntry(entry, table, depth)),
  );
}

/**
 * Plans the filter of an update or delete. Throws EMPTY_FILTER if nothing is left of its conditions, because its writer did not mean all
 * rows. `isUnsent`: the filter itself is a variable that was not sent.
 */
export function planRestriction(value: InputValue | undefined, table: Table, isUnsent: boolean): Filter | null {
  const filter = planFilter(value, table);
  const isLost = isUnsent || (filter === null && value !== undefined && value !== null && hasLostConditions(value));
  if (!isLost || !table.additions.has('filterGuard')) return filter;
  throw new ApiError(
    'EMPTY_FILTER',
    'No condition of the filter is left, because its variables were not sent or are null. Send them, or write "filter: {}" for all records.',
  );
}

function planEntry(entry: InputEntry, table: Table, depth: number): Filter | null {
  const { value } = entry;
  if (value === null) return null;
  const binding = bindingAt('filter', entry);
  switch (binding.kind) {
    case 'column': {
      const { column } = binding;
      const parts = partsOf(column);
      if (parts?.isList) return planCompositeArray(objectOf(value), column, parts.table, depth);
      if (parts) return attributesOf(column, parts.table, null, planFilter(value, parts.table, depth));
      return planColumnFilter(value, column);
    }
    case 'node id':
      return combine(
        'and',
        objectOf(value).entries.flatMap((operand) => planNodeId(operand, table)),
      );
    case 'and':
    case 'or':
      return combine(
        binding.kind,
        listOf(value).map((item) => planFilter(item, table, depth)),
      );
    case 'not': {
      const filter = planFilter(value, table, depth);
      return filter && { kind: 'not', filter };
    }
    case 'is':
      return { kind: 'whole null test', isNull: isNullOf(value) };
    case 'search': {
      const search = planSearch(value, table);
      return search && { kind: 'search', search };
    }
    case 'related rows': {
      const { rows } = binding;
      return combine('and', rows.many ? planToMany(objectOf(value), rows, depth) : planToOne(objectOf(value), rows, depth));
    }
  }
}

function attributesOf(column: Column, table: Table, quantifier: 'any' | 'all' | null, filter: Filter | null): Filter | null {
  return filter && { kind: 'attributes', column, table, quantifier, filter };
}

function planCompositeArray({ entries }: InputObject, column: Column, table: Table, depth: number): Filter | null {
  const filters = entries.map((entry): Filter | null => {
    const { binding, value } = entry;
    if (binding?.at !== 'array operators') return { column, ...planTest(entry, column.type) };
    if (value === null) return null;
    if (binding.kind === 'length') return testsOf({ column, kind: 'length', tests: planTests(value, namedTypes.int4) });
    return attributesOf(column, table, binding.kind, planFilter(value, table, depth));
  });
  return combine('and', filters);
}

function planColumnFilter(value: InputValue, column: Column): Filter | null {
  const { entries } = objectOf(value);
  return combine(
    'and',
    entries.map((operand) => planColumnTest(operand, column)),
  );
}

function planColumnTest(operand: InputEntry, column: Column): Filter | null {
  const { binding, value } = operand;
  if (binding?.at === 'json operators') return planJsonTest(value, binding.operator, column);
  if (binding?.at === 'geometry operators') return planNear(value, column);
  if (binding?.at === 'range operators') return planRangeTest(value, binding, column);
  if (binding?.at !== 'array operators' || column.type.kind !== 'list') return { column, ...planTest(operand, column.type) };
  if (value === null) return null;
  if (binding.kind === 'length') return testsOf({ column, kind: 'length', tests: planTests(value, namedTypes.int4) });
  const element: Column = { ...column, name: 'element', type: column.type.element, leadsIndex: false };
  const filter = planColumnFilter(value, element);
  return filter && { column, kind: 'elements', quantifier: binding.kind, filter };
}

function planRangeTest(value: InputValue, binding: RangeBinding, column: Column): Filter | null {
  const ranges = rangesOf(column.type);
  if (ranges === undefined) throw new Error(`The column ${column.name} has no ranges.`);
  const { bound } = ranges.range;
  switch (binding.kind) {
    case 'is empty':
      return { kind: 'range is empty', column, parameter: valueParameter(value, namedTypes.bool, 'filter') };
    case 'lower':
    case 'upper': {
      const tests = value === null ? [] : planTests(value, bound);
      return tests.length > 0 ? { kind: 'bound', column, side: binding.kind, type: bound, tests } : null;
    }
    case 'range operator': {
      const { operator } = binding;
      if (rangeOperators[operator].takes === 'element')
        return { kind: 'range test', column, operator, parameter: valueParameter(value, bound, 'filter') };
      // An empty object is no condition.
      if ((value?.kind === 'object' && value.entries.length === 0) || (value?.kind === 'list' && value.items.some(isUnsent))) return null;
      const encoding = { kind: 'value', type: operandType(column.type), use: 'filter' } as const;
      return { kind: 'range test', column, operator, parameter: { value: rangeValue(value), encoding } };
    }
  }
}

function planNear(value: InputValue, column: Column): Filter | null {
  if (value === null) return null;
  const { entries } = objectOf(value);
  return {
    kind: 'near',
    column,
    from: valueParameter(valueAt(entries, 'near', 'from'), column.type, 'filter'),
    distance: numberParameter(valueAt(entries, 'near', 'distance'), 'distance', Number.MAX_SAFE_INTEGER),
  };
}

type RangeBinding = Extract<NonNullable<InputEntry['binding']>, { at: 'range operators' }>;

function planJsonTest(value: InputValue, operator: JsonOperator, column: Column): Filter {
  const test = { kind: 'json test', column, operator, vars: null } as const;
  switch (jsonOperators[operator].takes) {
    case 'json':
      return { ...test, parameter: valueParameter(value, namedTypes.jsonb, 'filter') };
    case 'key':
      return { ...test, parameter: valueParameter(value, namedTypes.text, 'filter') };
    case 'keys':
      // A key that no text can be is an error: as null, which PostgreSQL leaves out, it would not restrict anything.
      return { ...test, parameter: valueParameter(value, namedTypes.text, 'write') };
    case 'path': {
      const entries = value === null ? [] : objectOf(value).entries;
      const vars = valueAt(entries, 'json path', 'vars');
      return {
        ...test,
        parameter: valueParameter(valueAt(entries, 'json path', 'path'), namedTypes.jsonpath, 'filter'),
        vars: vars && valueParameter(vars, namedTypes.jsonb, 'filter'),
      };
    }
  }
}

/** Without tests, an array has no condition. */
function testsOf(filter: Extract<Filter, { kind: 'length' }>): Filter | null {
  return filter.tests.length > 0 ? filter : null;
}

function planNodeId({ value }: InputEntry, table: Table): Filter[] {
  const { key, nulls } = withoutNulls(keyOfNodeId(value, table, 'filter'), value, table);
  return [
    ...key.map(({ column, parameter }): Filter => ({ kind: 'comparison', column, operator: 'eq', parameter })),
    ...nulls.map((column): Filter => ({ kind: 'null test', column, isNull: true })),
  ];
}

export function combine(kind: 'and' | 'or', filters: readonly (Filter | null)[]): Filter | null {
  const present = filters.filter((filter) => filter !== null);
  return present.length > 1 ? { kind, filters: present } : (present[0] ?? null);
}

function planToOne({ entries }: InputObject, rows: RelatedRows, depth: number): readonly Filter[] {
  const tests = entries.filter(({ binding }) => binding?.at === 'filter to one');
  const others = entries.filter((entry) => !tests.includes(entry));
  const filter = planFilter({ kind: 'object', entries: others }, rows.target, deeper('filter', depth));
  const conditions = tests.map(({ value }): Filter => {
    return { kind: 'related rows', rows, quantifier: isNullOf(value) ? 'none' : 'some', filter: null };
  });
  return filter ? [...conditions, { kind: 'related rows', rows, quantifier: 'some', filter }] : conditions;
}

/**
 * Nulls are no conditions, but empty objects are: `some: {}` requires a row, and `every: {}` always holds. If all conditions inside are
 * lost because their variables were not sent, there is none: `some: {name: {eq: $name}}` requires no row.
 */
function planToMany({ entries, unsent = [] }: InputObject, rows: RelatedRows, depth: number): readonly Filter[] {
  const where = valueAt(entries, 'filter to many', 'where');
  if (where !== null && !unsent.includes('count') && !entries.some(({ binding, value }) => binding?.kind === 'count' && value !== null)) {
    throw new ApiError(
      'BAD_USER_INPUT',
      'The filter "where" says which rows "count" counts. Give "count", or use "some", "every" or "none".',
    );
  }
  return entries.flatMap((entry): readonly Filter[] => {
    const { value } = entry;
    if (value === null) return [];
    const { kind } = bindingAt('filter to many', entry);
    if (kind === 'where') return [];
    const inner = kind === 'count' ? where : value;
    const filter = planFilter(inner, rows.target, deeper('filter', depth));
    if (filter === null && ((inner !== null && hasLostConditions(inner)) || (kind === 'count' && unsent.includes('where')))) return [];
    if (kind !== 'count') return [{ kind: 'related rows', rows, quantifier: kind, filter }];
    const tests = objectOf(value).entries.map((test) => planTest(test, namedTypes.int4));
    return tests.length > 0 ? [{ kind: 'related count', rows, filter, tests }] : [];
  });
}

/**
 * Whether a filter without conditions was written with some, which are lost because variables were not sent. `{and: []}` has none to lose.
 */
function hasLostConditions(value: InputValue): boolean {
  if (value?.kind === 'list') return value.items.some(hasLostConditions);
  if (value?.kind !== 'object') return true;
  const { entries, unsent } = value;
  return unsent !== undefined || entries.some((entry) => !isLogical(entry) || hasLostConditions(entry.value));
}

function isLogical({ binding }: InputEntry): boolean {
  return binding?.kind === 'and' || binding?.kind === 'or' || binding?.kind === 'not';
}
