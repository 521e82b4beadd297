/** Filters as SQL: `(t1."age" > $1::int4 and t1."name" is not null)`. */
import type { Column, ValueType } from '../model/model.ts';
import type { Filter, Operator, Parameter } from '../plan/plan.ts';
import { requiredComparisons } from '../plan/required-comparisons.ts';
import { join, literal, type Sql, sql, trusted } from '../sql/sql.ts';
import { comparable, comparand, comparisonOf, isNotNull, isNull } from './comparison.ts';
import { compileRelationFilter, type Place, whereClause, withinExpression } from './compile-relation-filter.ts';
import type { Aliases, Scope } from './scope.ts';

/** The condition, in parentheses if it combines several. `place` is its place among the conditions of the statement. */
export function compileFilter(filter: Filter, scope: Scope, aliases: Aliases, place: Place = whereClause): Sql {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const inside = filter.kind === 'and' ? place : withinExpression(place);
      const conditions = filter.filters.map((each) => compileFilter(each, scope, aliases, inside));
      return sql`(${join(conditions, ` ${filter.kind} `)})`;
    }
    case 'not':
      return sql`not (${compileFilter(filter.filter, scope, aliases, withinExpression(place))})`;
    case 'null test':
      return (filter.isNull ? isNull : isNotNull)(scope.column(filter.column.name), filter.column.type);
    case 'comparison':
      return compileComparison(filter.column, filter.operator, filter.parameter, scope);
    case 'related rows':
    case 'related count':
      return compileRelationFilter(filter, scope, aliases, place, compileFilter);
  }
}

/** Operators that bound a column from below, and from above. */
const lowerBounds: ReadonlySet<Operator> = new Set(['gt', 'gte']);
const upperBounds: ReadonlySet<Operator> = new Set(['lt', 'lte']);

/**
 * Whether an index probably finds few rows for the filter: if it gives a value, or both bounds, for a column that an index starts with.
 * Booleans and enums have too few values for that.
 */
export function narrowsByIndex(filter: Filter | null): boolean {
  const comparisons = requiredComparisons(filter);
  const isBounded = (column: Column, bounds: ReadonlySet<Operator>): boolean =>
    comparisons.some((each) => each.column === column && bounds.has(each.operator));
  return comparisons.some(({ column, operator }) => {
    if (!column.leadsIndex || column.type.kind !== 'scalar' || column.type.typeName === 'bool') return false;
    return operator === 'eq' || operator === 'in' || (isBounded(column, lowerBounds) && isBounded(column, upperBounds));
  });
}

function compileComparison(column: Column, operator: Operator, parameter: Parameter, scope: Scope): Sql {
  const { name, type } = column;
  if (operator === 'in') return comparisonOf(scope.column(name), operator, parameter, type);
  const value = knownValue(parameter, type) ?? comparand(parameter, type);
  return comparisonOf(comparable(scope.column(name), type), operator, parameter, type, value);
}

/**
 * A literal enum value or boolean becomes part of the SQL, spelled as in the model, so that PostgreSQL can plan for it and use partial
 * indexes. Everything else is bound.
 */
function knownValue({ value }: Parameter, type: ValueType): Sql | undefined {
  if (value.kind !== 'constant') return undefined;
  if (typeof value.value === 'boolean' && type.kind === 'scalar' && type.typeName === 'bool')
    return trusted(value.value ? 'true' : 'false');
  const label = type.kind === 'enum' ? type.enum.values.find(({ name }) => name === value.value)?.label : undefined;
  if (label === undefined) return undefined;
  return 'unnameable' in type ? literal(label) : sql`${literal(label)}::${trusted(type.sqlType)}`;
}

/** `column = value` for a key. */
export function equals(column: Column, parameter: Parameter, scope: Scope): Sql {
  return sql`${comparable(scope.column(column.name), column.type)} = ${comparand(parameter, column.type)}`;
}
