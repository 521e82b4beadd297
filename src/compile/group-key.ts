/**
 * What the rows of a group have in common, as an expression over a row, and its JSON: a column, `date_trunc('month', t1."sold_at", $1::text)`, or the
 * lower bound of a range of numbers.
 */
import type { Column } from '../model/model.ts';
import type { GroupBy, Parameter } from '../plan/plan.ts';
import type { JsonText } from '../sql/json-text.ts';
import { bind, builtIn, literal, nothing, type Sql, sql, trusted } from '../sql/sql.ts';
import { scalarOf } from './aggregate-value.ts';
import type { Scope } from './scope.ts';
import { valueJson } from './value-json.ts';

/** The expression over the row that has the column. */
export function groupExpression(by: GroupBy, scope: Scope): Sql {
  const value = scope.column(by.column.name);
  const { typeName } = scalarOf(by.column);
  switch (by.kind) {
    case 'value':
      return value;
    case 'truncated': {
      const unit = literal(by.unit);
      if (typeName === 'date') return sql`date_trunc(${unit}, ${value}::timestamp)::date`;
      // Points in time without a zone are truncated as they are.
      return by.timeZone && typeName === 'timestamptz'
        ? sql`date_trunc(${unit}, ${value}, ${bind(by.timeZone, 'text')})`
        : sql`date_trunc(${unit}, ${value})`;
    }
    case 'bucket':
      return bucket(by.column, value, by.width);
  }
}

/** Whole numbers as what they are computed, and the least values of their types, which buckets do not go below. */
const wholeNumbers: Readonly<Record<string, { readonly as: string; readonly least: string }>> = {
  int2: { as: 'int8', least: '-32768' },
  int4: { as: 'int8', least: '-2147483648' },
  int8: { as: 'numeric', least: '-9223372036854775808' },
};

/** Computed as bigint or numeric, which is exact. `mod` has the sign of the value, and no answer for infinity, which a number of limited digits never is. */
function bucket(column: Column, value: Sql, width: Parameter): Sql {
  const { typeName, sqlType } = scalarOf(column);
  const whole = wholeNumbers[typeName];
  const type = whole?.as ?? 'numeric';
  const number = type === typeName ? value : sql`${value}::${trusted(type)}`;
  const step = bind(width, type);
  const rest = sql`mod(${number}, ${step})`;
  const above = sql`${number} - ${rest}`;
  const below = sql`${above} - case when ${rest} = 0 then 0 else ${step} end`;
  const limited = whole ? sql`greatest(${below}, ${trusted(whole.least)})` : below;
  const infinite = whole || /^numeric\(/.test(sqlType) ? nothing : sql` when ${builtIn('abs', number)} = 'infinity' then ${number}`;
  const start = sql`case${infinite} when ${number} < 0 then ${limited} else ${above} end`;
  return typeName === 'numeric' ? start : sql`(${start})::${trusted(typeName)}`;
}

/** The JSON of a key, as it is read from the groups. Numbers that are equal may be written differently in the rows. */
export function groupKeyJson({ column, kind }: GroupBy, value: Sql): JsonText {
  const { typeName, sqlType } = scalarOf(column);
  const isTrimmed = typeName === 'numeric' && (kind === 'bucket' || sqlType === 'numeric');
  return valueJson(isTrimmed ? builtIn('trim_scale', value) : value, column.type, false);
}
