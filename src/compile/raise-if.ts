/** Errors that a statement raises itself, which undo the whole transaction. */
import { raiseMarker } from '../sql/raise.ts';
import { literal, type Sql, sql } from '../sql/sql.ts';

/**
 * Empty text, or an error if the condition holds: `message` is one of the table in `engine/sqlstate.ts`. A cast that cannot succeed raises it. `number` is told
 * with it; a subselect, so that PostgreSQL does not evaluate the cast while planning.
 */
export function raiseIf(condition: Sql, message: string, number: Sql = sql`(select '')`): Sql {
  return sql`case when ${condition} then (${literal(`${raiseMarker}${message}: `)} || ${number})::int4::text else '' end`;
}
