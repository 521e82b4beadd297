/** Errors that a statement raises itself, which roll back the transaction. */
import { type Raisable, raisedText } from '../errors/raise.ts';
import { literal, type Sql, sql } from '../sql/sql.ts';

/**
 * Empty text, or an error if the condition holds. A cast that must fail raises the
 * error. `number` is appended to the text; it is a subselect, so that PostgreSQL cannot evaluate the cast while planning.
 */
export function raiseIf(condition: Sql, error: Raisable, number: Sql = sql`(select '')`): Sql {
  return sql`case when ${condition} then (${literal(`${raisedText(error)}: `)} || ${number})::int4::text else '' end`;
}
