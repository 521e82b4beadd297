/**
 * Filters as SQL: `(t1."age" > $1::int4 and t1."name" is not null)`. Conditions on related rows are semi-joins. For posts whose blog has a
 * given owner and that have at least three comments:
 *
 *     exists (select 1 from "public"."blog" as t2 where t2."id" = t1."blog_id" and t2."owner" = $1::text)
 *     and (select pg_catalog.count(*) >= $2::integer from (select 1 from "public"."comment" as t3 where t3."post_id" = t1."id"
 *       limit greatest($2::integer, 0)::bigint + 1) as t4)
 */
import type { Column } from '../model/model.ts';
import { namedTypes, operandType, traitsOf } from '../model/types/named-types.ts';
import { type Operator, operators } from '../model/types/operators.ts';
import type { ValueType } from '../model/value-type.ts';
import type { Filter, Test } from '../plan/conditions.ts';
import type { Parameter } from '../plan/parameter.ts';
import { traitsOfFilter } from '../plan/traits/filter-traits.ts';
import { columnsLeadingTo, columnsOfSearch } from '../plan/traits/order-traits.ts';
import { requiredComparisons } from '../plan/walk.ts';
import { and, as, countRows, exists, list, subselect } from '../sql/clauses.ts';
import { bind, builtIn, identifier, integer, join, literal, type Sql, sql, trusted } from '../sql/sql.ts';
import { elementScope, elementsOf, memberScope, shapedValue } from './attributes.ts';
import { distanceCondition } from './distance.ts';
import { relatedRows } from './related-rows.ts';
import { type Aliases, allNeeds, directScope, needsOfColumns, noNeeds, type RowNeeds, type Scope, wholeRow } from './scope.ts';
import { searchCondition } from './search.ts';
import { comparable, comparand, comparisonOf, hasOwnOperand, inSchemaOf, isNotNull, isNull, partOf, testOf } from './values/comparison.ts';
import { jsonCondition } from './values/json-values.ts';
import { rangeCondition } from './values/range-values.ts';

/**
 * Where a condition is. PostgreSQL turns an `exists` that is a top-level condition of WHERE into a join. One inside an expression, such as
 * below `or`, it plans twice: once to run for each row, and once to hash all rows. Nested, that would double at every level, so only the
 * outermost keeps the choice: `offset 0` takes it away from those inside.
 */
interface Nesting {
  readonly isInExpression: boolean;
  /** Whether PostgreSQL plans an enclosing subquery twice. */
  readonly isPlannedTwice: boolean;
  /** Whether it is below `not`, where false and unknown are different. */
  readonly isNegated: boolean;
}

const topLevel: Nesting = { isInExpression: false, isPlannedTwice: false, isNegated: false };

/** The condition, in parentheses if it combines several. */
export function compileFilter(filter: Filter, scope: Scope, aliases: Aliases, nesting = topLevel): Sql {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const inside = filter.kind === 'and' ? nesting : { ...nesting, isInExpression: true };
      const conditions = filter.filters.map((each) => compileFilter(each, scope, aliases, inside));
      return sql`(${join(conditions, ` ${filter.kind} `)})`;
    }
    case 'not':
      return sql`not (${compileFilter(filter.filter, scope, aliases, { ...nesting, isInExpression: true, isNegated: true })})`;
    case 'null test': {
      const { shape, type } = filter.column;
      const value = scope.column(filter.column.name);
      return (filter.isNull ? isNull : isNotNull)(shape ? shapedValue(value, filter.column, shape) : value, type);
    }
    case 'comparison':
      return compileComparison(filter.column, filter.operator, filter.parameter, scope);
    case 'elements':
      return elementsCondition(filter, scope, aliases, nesting);
    case 'length':
      return and(filter.tests.map((test) => testOf(lengthOf(scope.column(filter.column.name), filter.column), test, namedTypes.int4)));
    case 'json test':
      return jsonCondition(scope.column(filter.column.name), filter.column.type, filter);
    case 'attributes':
      return attributesCondition(filter, scope, aliases, nesting);
    case 'whole null test':
      return sql`${scope.row} ${trusted(filter.isNull ? 'is not distinct from null' : 'is distinct from null')}`;
    case 'near':
      return nearCondition(filter, scope);
    case 'range test':
    case 'range is empty':
    case 'bound':
      return rangeCondition(scope.column(filter.column.name), filter.column.type, filter);
    case 'search':
      return searchCondition(filter.search, scope);
    case 'distance':
      return distanceCondition(filter, scope, aliases);
    case 'related rows':
      return relatedRowsCondition(filter, scope, aliases, nesting);
    case 'related count':
      return countCondition(filter, scope, aliases, nesting);
  }
}

/** What a filter needs of the rows. */
export function needsOfFilter(filter: Filter): RowNeeds {
  const { inside, rows } = traitsOfFilter(filter);
  if ('column' in filter) return needsOfColumns([filter.column.name]);
  if (filter.kind === 'search') return needsOfColumns(columnsOfSearch(filter.search));
  if (filter.kind === 'distance') return needsOfColumns([filter.distance.column.name]);
  if (!rows) return allNeeds(inside.map(needsOfFilter));
  const columns = columnsLeadingTo(rows);
  return columns ? needsOfColumns(columns) : wholeRow;
}

/**
 * Whether an index probably finds few rows for the filter: if it gives a value, or both bounds, for a column that an index starts with.
 * Booleans and enums have too few values for that.
 */
export function narrowsByIndex(filter: Filter | null): boolean {
  const comparisons = requiredComparisons(filter);
  const isBounded = (column: Column, bounds: 'below' | 'above'): boolean =>
    comparisons.some((each) => each.column === column && operators[each.operator].bounds === bounds);
  return comparisons.some(({ column, operator }) => {
    if (!column.leadsIndex || column.type.kind !== 'scalar' || column.type.traits.hasFewValues) return false;
    return operators[operator].bounds === 'both' || (isBounded(column, 'below') && isBounded(column, 'above'));
  });
}

function compileComparison(column: Column, operator: Operator, parameter: Parameter, scope: Scope): Sql {
  const { name, type } = column;
  const left = comparable(scope.column(name), type);
  const operand = operandType(type);
  if (hasOwnOperand(operator)) return comparisonOf(left, operator, parameter, operand);
  return comparisonOf(left, operator, parameter, operand, literalOf(parameter, type) ?? comparand(parameter, type));
}

/**
 * A literal enum value or boolean becomes part of the SQL, spelled as in the model, so that PostgreSQL can plan for it and use partial
 * indexes. Everything else is bound.
 */
function literalOf({ value }: Parameter, type: ValueType): Sql | undefined {
  if (value.kind !== 'constant') return undefined;
  if (typeof value.value === 'boolean' && traitsOf(type).hasFewValues) return trusted(value.value ? 'true' : 'false');
  const label = type.kind === 'enum' ? type.enum.values.find(({ name }) => name === value.value)?.label : undefined;
  if (label === undefined) return undefined;
  return 'unnameable' in type ? literal(label) : sql`${literal(label)}::${trusted(type.sqlType)}`;
}

export function equals(column: Column, parameter: Parameter, scope: Scope): Sql {
  return sql`${comparable(scope.column(column.name), column.type)} = ${comparand(parameter, column.type)}`;
}

/** Whether a shape is within a distance of another. */
function nearCondition({ column, from, distance }: Extract<Filter, { kind: 'near' }>, scope: Scope): Sql {
  const operand = operandType(column.type);
  return sql`${inSchemaOf(operand, 'st_dwithin')}(${scope.column(column.name)}, ${comparand(from, column.type)}, ${bind(distance, 'float8')})`;
}

/** `exists (select 1 from unnest(t1."tags") as t2(element) where t2.element like $1::text)` */
function elementsCondition(
  { column, quantifier, filter }: Extract<Filter, { kind: 'elements' }>,
  scope: Scope,
  aliases: Aliases,
  { isNegated }: Nesting,
): Sql {
  const array = scope.column(column.name);
  const alias = aliases.next();
  const matches = compileFilter(filter, directScope(alias, { keepsNotNull: false }), aliases, { ...topLevel, isNegated });
  return quantified({ quantifier, isNegated }, array, as(builtIn('unnest', array), alias, ['element']), matches);
}

function elementOf(alias: string): Sql {
  return sql`${trusted(alias)}.${identifier('element')}`;
}

/**
 * As PostgreSQL's `any` and `all`, it is unknown for an array that is null, and if that depends on an element for which it is unknown. Only
 * below `not` does it matter whether it is that or false.
 */
function quantified(
  { quantifier, isNegated }: { readonly quantifier: 'any' | 'all'; readonly isNegated: boolean },
  array: Sql,
  from: Sql,
  matches: Sql,
): Sql {
  if (isNegated) {
    const isAny = quantifier === 'any';
    const decides = isAny ? builtIn('bool_or', matches) : sql`not ${builtIn('bool_and', matches)}`;
    const isKnown = sql`${countRows} = ${builtIn('count', matches)}`;
    const truth = sql`case when ${decides} then ${trusted(`${isAny}`)} when ${isKnown} then ${trusted(`${!isAny}`)} end`;
    return sql`(case when ${array} is not null then ${subselect({ columns: [truth], from })} end)`;
  }
  if (quantifier === 'any') return exists({ from, where: [matches] });
  return sql`(${array} is not null and not ${exists({ from, where: [sql`(${matches}) is not true`] })})`;
}

/** `(t1."address")."city" = $1::text`, which is how PostgreSQL writes the expression of an index as well. */
function attributesCondition(
  { column, quantifier, filter }: Extract<Filter, { kind: 'attributes' }>,
  scope: Scope,
  aliases: Aliases,
  nesting: Nesting,
): Sql {
  const value = scope.column(column.name);
  if (quantifier === null) return compileFilter(filter, memberScope(scope.alias, value, column), aliases, nesting);
  const alias = aliases.next();
  const inside = { ...nesting, isInExpression: quantifier === 'all', isPlannedTwice: nesting.isPlannedTwice || nesting.isInExpression };
  const matches = compileFilter(filter, elementScope(alias, elementOf(alias), column), aliases, inside);
  const { array, from } = elementsOf(value, column, alias);
  return quantified({ quantifier, isNegated: nesting.isNegated }, array, from, matches);
}

/** The number of elements of an array, or of JSON with the shape of a list. */
function lengthOf(value: Sql, column: Column): Sql {
  return column.shape ? builtIn('jsonb_array_length', shapedValue(value, column, column.shape)) : builtIn('cardinality', value);
}

/** `every` means that no row fails to match. */
function relatedRowsCondition(
  { rows, filter, quantifier }: Extract<Filter, { kind: 'related rows' }>,
  near: Scope,
  aliases: Aliases,
  nesting: Nesting,
): Sql {
  const related = relatedRows(rows, near, aliases, filter ? needsOfFilter(filter) : noNeeds);
  const isEvery = quantifier === 'every';
  const inside = { isInExpression: isEvery, isPlannedTwice: nesting.isPlannedTwice || nesting.isInExpression, isNegated: false };
  const condition = filter && compileFilter(filter, related.scope, aliases, inside);
  if (isEvery && condition === null) return trusted('true');
  const matching = condition ? [isEvery ? sql`(${condition}) is not true` : condition] : [];
  const found = exists({
    from: related.from,
    where: [...related.conditions, ...matching],
    offset: nesting.isInExpression && nesting.isPlannedTwice ? integer(0) : null,
  });
  return quantifier === 'some' ? found : sql`not ${found}`;
}

/** Counting stops as soon as more rows cannot change the result. */
function countCondition(
  { rows, filter, tests }: Extract<Filter, { kind: 'related count' }>,
  near: Scope,
  aliases: Aliases,
  nesting: Nesting,
): Sql {
  const { scope, from, conditions } = relatedRows(rows, near, aliases, filter ? needsOfFilter(filter) : noNeeds);
  const matching = filter ? [compileFilter(filter, scope, aliases, { ...nesting, isInExpression: false, isNegated: false })] : [];
  const counted = subselect({ columns: [integer(1)], from, where: [...conditions, ...matching], limit: countedRows(tests) });
  const results = tests.map((test) =>
    test.kind === 'null test'
      ? sql`${countRows} ${trusted(test.isNull ? 'is null' : 'is not null')}`
      : comparisonOf(countRows, test.operator, test.parameter, { sqlType: 'integer' }),
  );
  return subselect({ columns: [and(results)], from: as(counted, aliases.next()) });
}

/** The number of rows that can affect the result: one more than the largest number that the count is compared with. */
function countedRows(tests: readonly Test[]): Sql {
  const numbers = tests.flatMap((test) => {
    if (test.kind === 'null test') return [];
    const { form, takesList } = operators[test.operator];
    if (form === 'between') return [bind(partOf(test.parameter, 'second'), 'integer')];
    if (!takesList) return [bind(test.parameter, 'integer')];
    return [sql`(select ${builtIn('max', trusted('number'))} from ${builtIn('unnest', bind(test.parameter, 'integer[]'))} as number)`];
  });
  // `greatest` ignores nulls, and comparisons with them match nothing.
  return sql`greatest(${list([...numbers, integer(0)])})::bigint + 1`;
}
