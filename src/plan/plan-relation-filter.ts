/**
 * Plans filters by related rows. Nulls are no conditions, but empty objects are: `some: {}` requires a row, and `every: {}` always holds.
 * If all conditions inside are lost because their variables were not sent, there is none: `some: {name: {eq: $name}}` requires no row.
 */
import { ApiError } from '../errors/api-error.ts';
import type { Table } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import { namedTypes } from '../model/types/named-types.ts';
import type { InputEntry, InputObject, InputValue } from '../request/input-value.ts';
import { bindingAt } from '../request/operation.ts';
import { valueParameter } from './parameters.ts';
import type { CountTest, Filter } from './plan.ts';

/** Plans a filter of the related table. It is a parameter because the two planners call each other. */
export type FilterPlanner = (value: InputEntry['value'] | undefined, table: Table) => Filter | null;

/** Plans the conditions, all of which must hold. Throws BAD_USER_INPUT. */
export function planRelationFilter(value: InputObject, rows: RelatedRows, plan: FilterPlanner): readonly Filter[] {
  return rows.many ? planToMany(value, rows, plan) : planToOne(value, rows, plan);
}

/** Whether a filter without conditions was written with some, which are lost because variables were not sent. `{and: []}` has none to lose. */
export function hasLostConditions(value: InputValue): boolean {
  if (value?.kind === 'list') return value.items.some(hasLostConditions);
  if (value?.kind !== 'object') return true;
  const { entries, unsent } = value;
  return unsent !== undefined || entries.some((entry) => !isLogical(entry) || hasLostConditions(entry.value));
}

function isLogical({ binding }: InputEntry): boolean {
  return binding?.kind === 'and' || binding?.kind === 'or' || binding?.kind === 'not';
}

function planToOne({ entries }: InputObject, rows: RelatedRows, plan: FilterPlanner): readonly Filter[] {
  const tests = entries.filter(({ binding }) => binding?.at === 'filter to one');
  const filter = plan({ kind: 'object', entries: entries.filter((entry) => !tests.includes(entry)) }, rows.target);
  const conditions = tests.map(({ value }): Filter => {
    if (value?.kind !== 'choice') throw new ApiError('BAD_USER_INPUT', 'The operator "is" must be NULL or NOT_NULL.');
    return { kind: 'related rows', rows, quantifier: value.name === 'NULL' ? 'none' : 'some', filter: null };
  });
  return filter ? [...conditions, { kind: 'related rows', rows, quantifier: 'some', filter }] : conditions;
}

function planToMany({ entries, unsent = [] }: InputObject, rows: RelatedRows, plan: FilterPlanner): readonly Filter[] {
  const where = entries.find(({ binding }) => binding?.kind === 'where')?.value ?? null;
  if (where !== null && !unsent.includes('count') && !entries.some(({ binding, value }) => binding?.kind === 'count' && value !== null)) {
    throw new ApiError(
      'BAD_USER_INPUT',
      'The filter "where" says which rows "count" counts. Give "count", or use "some", "every" or "none".',
    );
  }
  return entries.flatMap((entry) => {
    const { value } = entry;
    if (value === null) return [];
    const { kind: quantifier } = bindingAt('filter to many', entry);
    if (quantifier === 'where') return [];
    if (quantifier === 'count') {
      const filter = plan(where, rows.target);
      const isLost = filter === null && (unsent.includes('where') || (where !== null && hasLostConditions(where)));
      return isLost ? [] : planCount(value, rows, filter);
    }
    const filter = plan(value, rows.target);
    return filter === null && hasLostConditions(value) ? [] : [{ kind: 'related rows', rows, quantifier, filter } as const];
  });
}

function planCount(value: NonNullable<InputEntry['value']>, rows: RelatedRows, filter: Filter | null): readonly Filter[] {
  if (value.kind !== 'object') throw new ApiError('BAD_USER_INPUT', 'Expected an object in the filter "count".');
  const tests = value.entries.map(planCountTest);
  return tests.length > 0 ? [{ kind: 'related count', rows, filter, tests }] : [];
}

function planCountTest(entry: InputEntry): CountTest {
  const { value } = entry;
  const binding = bindingAt('operators', entry);
  if (binding.kind === 'operator')
    return { kind: 'comparison', operator: binding.operator, parameter: valueParameter(value, namedTypes.int4, 'filter') };
  if (value?.kind !== 'choice') throw new ApiError('BAD_USER_INPUT', 'The operator "is" must be NULL or NOT_NULL.');
  return { kind: 'null test', isNull: value.name === 'NULL' };
}
