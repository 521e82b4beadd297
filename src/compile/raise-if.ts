/** Errors that a statement raises itself, which roll back the transaction. */
import { raiseMarker } from '../errors/raise.ts';
import { literal, type Sql, sql } from '../sql/sql.ts';

/**
 * Empty text, or an error if the condition holds. `message` is one of those in `errors/from-postgres.ts`. A cast that must fail raises the
 * error. `number` is appended to the message; it is a subselect, so that PostgreSQL cannot evaluate the cast while planning.
 */
export function raiseIf(condition: Sql, message: string, number: Sql = sql`(select '')`): Sql {
  return sql`case when ${condition} then (${literal(`${raiseMarker}${message}: `)} || ${number})::int4::text else '' end`;
}
