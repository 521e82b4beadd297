/**
 * Enforces `atMost`: the number of rows that an update or delete may change. RETURNING counts the rows and stops the statement at the
 * first one too many, so a filter that matches a whole table does not change all of it before that is undone. SQL has no counter, so a
 * setting of the transaction holds the number; the select around the statement resets it.
 *
 *     with changed as (update … returning case when set_config('rowgraph.rows', (… + 1)::text, true)::int4 > $2::int4 then …)
 *     select concat('{"affectedCount":', count(*), '}', set_config('rowgraph.rows', left(count(*)::text, 0), true)) from changed
 */

import { raisedText } from '../../errors/raise.ts';
import type { Parameter } from '../../plan/plan.ts';
import { bind, literal, type Sql, sql, trusted } from '../../sql/sql.ts';

/** What `atMost` limits. */
export interface LimitedChange {
  readonly kind: 'update' | 'delete';
  readonly atMost: Parameter;
}

const setting = trusted("'rowgraph.rows'");
/** The setting is null or empty before the first row. */
const rowsSoFar = sql`coalesce('0' || pg_catalog.current_setting(${setting}, true), '0')::int4`;

/** An expression for RETURNING that counts the row, and raises an error if it is one too many. */
export function countRow(change: LimitedChange): Sql {
  const count = sql`pg_catalog.set_config(${setting}, (${rowsSoFar} + 1)::text, true)::int4`;
  return raiseAbove(change, count, sql`pg_catalog.current_setting(${setting})`);
}

/**
 * Empty text, for the select around the statement: the next statement counts from zero. It contains an aggregate, so that PostgreSQL
 * evaluates it once, after all rows are written.
 */
export const resetCount: Sql = sql`pg_catalog.set_config(${setting}, pg_catalog.left(pg_catalog.count(*)::text, 0), true)`;

/** Empty text, or an error if the number of changed rows is above `atMost`. */
export function checkCount(change: LimitedChange, count: Sql): Sql {
  return raiseAbove(change, count, sql`${count}::text`);
}

/**
 * Empty text, or an error that undoes the statement. A cast that must fail raises the error, so rowgraph need not install a function. The
 * cast text contains the count, so that PostgreSQL cannot evaluate it while planning.
 */
function raiseAbove({ kind, atMost }: LimitedChange, count: Sql, countText: Sql): Sql {
  const text = literal(raisedText(`${kind}-too-many`));
  return sql`case when ${count} > ${bind(atMost, 'int4')} then (${text} || pg_catalog.left(${countText}, 0))::int4::text else '' end`;
}
