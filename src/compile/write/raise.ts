/** Errors that a statement raises itself, which roll back the transaction. */
import { type Raisable, raisedText } from '../../errors/raise.ts';
import type { Parameter } from '../../plan/parameter.ts';
import { countRows } from '../../sql/clauses.ts';
import { bind, builtIn, cast, integer, literal, type Sql, sql, trusted } from '../../sql/sql.ts';

/**
 * Empty text, or an error if the condition holds. A cast that must fail raises it, so rowgraph need not install a function. `detail` is
 * appended to the text. It is nothing that PostgreSQL could evaluate while planning, and with it the cast.
 */
export function raiseIf(condition: Sql, error: Raisable, detail: Sql = sql`(select '')`): Sql {
  return sql`case when ${condition} then (${literal(`${raisedText(error)}: `)} || ${detail})::int4::text else '' end`;
}

/** A change for which `atMost` limits the number of rows. */
interface LimitedChange {
  readonly kind: 'update' | 'delete';
  readonly atMost: Parameter;
}

const setting = literal('rowgraph.rows');

/**
 * An expression for RETURNING that counts the row, and raises an error if it is one too many: a filter that matches a whole table does not
 * change all of it before that is undone. SQL has no counter, so a setting of the transaction holds the number.
 *
 *     with changed as (update … returning case when set_config('rowgraph.rows', (… + 1)::text, true)::int4 > $2::int4 then …)
 *     select concat('{"affectedCount":', count(*), '}', set_config('rowgraph.rows', left(count(*)::text, 0), true)) from changed
 */
export function countRow(change: LimitedChange): Sql {
  // The setting is null or empty before the first row.
  const rowsSoFar = sql`coalesce('0' || ${builtIn('current_setting', setting, trusted('true'))}, '0')::int4`;
  const count = cast(builtIn('set_config', setting, sql`(${rowsSoFar} + 1)::text`, trusted('true')), 'int4');
  return raiseAbove(change, count, builtIn('current_setting', setting));
}

/**
 * Empty text, for the select around the statement: the next statement counts from zero. It contains an aggregate, so that PostgreSQL
 * evaluates it once, after all rows are written.
 */
export const resetCount: Sql = builtIn('set_config', setting, builtIn('left', cast(countRows, 'text'), integer(0)), trusted('true'));

/** Empty text, or an error if the number of changed rows is above `atMost`. */
export function checkCount(change: LimitedChange, count: Sql): Sql {
  return raiseAbove(change, count, cast(count, 'text'));
}

function raiseAbove({ kind, atMost }: LimitedChange, count: Sql, countText: Sql): Sql {
  return raiseIf(sql`${count} > ${bind(atMost, 'int4')}`, `${kind}-too-many`, builtIn('left', countText, integer(0)));
}
