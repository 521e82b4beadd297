/**
 * Conditions of a filter as SQL: `(t1."age" > $1::int4 and t1."name" is not null)`.
 */
import type { Column } from '../model/model.ts';
import type { Filter, Operator, Parameter } from '../plan/plan.ts';
import { bind, join, type Sql, sql, trusted } from '../sql/sql.ts';
import type { Scope } from './scope.ts';

/** The condition, in parentheses where it joins several. */
export function compileFilter(filter: Filter, scope: Scope): Sql {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return sql`(${join(
        filter.filters.map((each) => compileFilter(each, scope)),
        ` ${filter.kind} `,
      )})`;
    case 'not':
      return sql`not (${compileFilter(filter.filter, scope)})`;
    case 'null test':
      return sql`${scope.column(filter.column.name)} ${trusted(filter.isNull ? 'is null' : 'is not null')}`;
    case 'comparison':
      return compileComparison(filter.column, filter.operator, filter.parameter, scope);
  }
}

const symbols: Readonly<Record<Exclude<Operator, 'in'>, string>> = {
  eq: '=',
  neq: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  like: 'like',
  ilike: 'ilike',
  regex: '~',
  iregex: '~*',
  startsWith: '^@',
  contains: '@>',
  containedBy: '<@',
  overlaps: '&&',
};
function compileComparison(column: Column, operator: Operator, parameter: Parameter, scope: Scope): Sql {
  const left = scope.column(column.name);
  const type = column.type.sqlType;
  if (operator === 'in') return sql`${left} = any(${bind(parameter, `${type}[]`)})`;
  return sql`${left} ${trusted(symbols[operator])} ${bind(parameter, type)}`;
}

/** `column = value` for a key. */
export function equals(column: Column, parameter: Parameter, scope: Scope): Sql {
  return sql`${scope.column(column.name)} = ${bind(parameter, column.type.sqlType)}`;
}
