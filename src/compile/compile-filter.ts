/**
 * Conditions of a filter as SQL: `(t1."age" > $1::int4 and t1."name" is not null)`.
 */
import type { Column, ValueType } from '../model/model.ts';
import type { Filter, Operator, Parameter } from '../plan/plan.ts';
import { bind, join, literal, type Sql, sql, trusted } from '../sql/sql.ts';
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

/** Whether the filter names a value of each of these columns. */
export function pinsColumns(filter: Filter | null, columns: readonly Column[]): boolean {
  const pinned = filter ? pinnedBy(filter) : [];
  return columns.every((column) => pinned.includes(column));
}

function pinnedBy(filter: Filter): readonly Column[] {
  if (filter.kind === 'and') return filter.filters.flatMap(pinnedBy);
  return filter.kind === 'comparison' && filter.operator === 'eq' ? [filter.column] : [];
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
  return sql`${left} ${trusted(symbols[operator])} ${knownValue(parameter, column.type) ?? bind(parameter, type)}`;
}

/**
 * An enum value or boolean that stands in the document is one of few, and the word for it is the model's: in the text, PostgreSQL can plan
 * for it and use partial indexes. Everything else is bound.
 */
function knownValue({ value }: Parameter, type: ValueType): Sql | undefined {
  if (value.kind !== 'constant') return undefined;
  if (typeof value.value === 'boolean' && type.kind === 'scalar' && type.typeName === 'bool')
    return trusted(value.value ? 'true' : 'false');
  const label = type.kind === 'enum' ? type.enum.values.find(({ name }) => name === value.value)?.label : undefined;
  return label === undefined ? undefined : sql`${literal(label)}::${trusted(type.sqlType)}`;
}

/** `column = value` for a key. */
export function equals(column: Column, parameter: Parameter, scope: Scope): Sql {
  return sql`${scope.column(column.name)} = ${bind(parameter, column.type.sqlType)}`;
}
