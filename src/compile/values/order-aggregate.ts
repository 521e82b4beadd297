/** Aggregates of related rows that order rows: their SQL, and the type that a cursor's value is compared as. */
import type { ScalarType } from '../../model/model.ts';
import { namedTypes, traitsOf } from '../../model/types/named-types.ts';
import type { AggregateOrder } from '../../plan/plan.ts';
import { builtIn, type Sql, sql, trusted } from '../../sql/sql.ts';
import type { Scope } from '../scope.ts';
import { extreme } from './aggregate-value.ts';

/** The aggregate over the rows in `scope`. */
export function aggregateSql(value: AggregateOrder, scope: Scope): Sql {
  if (value.function === 'count') return trusted('pg_catalog.count(*)');
  const column = scope.column(value.column.name);
  const traits = traitsOf(value.column.type);
  switch (value.function) {
    case 'sum':
    case 'avg':
      // A sum of floating-point numbers depends on the order in which PostgreSQL reads them, so a cursor could miss its position.
      return builtIn(value.function, traits.number?.isExact ? column : sql`${column}::numeric`);
    case 'min':
    case 'max':
      return extreme(value.function, traits, column);
  }
}

/** The type of the aggregate. */
export function aggregateType(value: AggregateOrder): ScalarType {
  if (value.function === 'count') return namedTypes.int8;
  const { type } = value.column;
  const { number, extremes } = traitsOf(type);
  if (value.function === 'sum' && number) return namedTypes[number.sum.exact];
  if (value.function === 'sum' || value.function === 'avg') return namedTypes.numeric;
  return extremes === 'of text' || type.kind !== 'scalar' ? namedTypes.text : type;
}
