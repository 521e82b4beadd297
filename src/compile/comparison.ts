/** Comparisons with a bound value: `t1."age" > $1::int4`, `t1."id" = any($1::int4[])`. */
import type { ValueType } from '../model/model.ts';
import type { Operator, Parameter } from '../plan/plan.ts';
import { bind, type Sql, sql, trusted } from '../sql/sql.ts';

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

/** A value of the type as PostgreSQL can compare it. */
export function comparable(value: Sql, type: ValueType): Sql {
  return type.kind === 'scalar' && type.comparedAs !== undefined ? sql`${value}::${trusted(type.comparedAs)}` : value;
}

/** A parameter as a value to compare with. */
export function comparand(parameter: Parameter | null | undefined, type: ValueType): Sql {
  return comparable(bind(parameter, type.sqlType), type);
}

/** The comparison of an expression with a parameter of a type, or with `value` where that is known. */
export function comparisonOf(left: Sql, operator: Operator, parameter: Parameter, type: string, value?: Sql): Sql {
  if (operator === 'in') return sql`${left} = any(${bind(parameter, `${type}[]`)})`;
  return sql`${left} ${trusted(symbols[operator])} ${value ?? bind(parameter, type)}`;
}
