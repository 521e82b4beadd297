/** Fields of Query as expressions of type text, which is JSON: those of a query, and those of the field `query` of a mutation. */
import type { ConnectionPlan, LookupPlan, RoutinePlan } from '../plan/plan.ts';
import { concatenate } from '../sql/json-text.ts';
import { join, type Sql, sql, trusted } from '../sql/sql.ts';
import { compileConnection } from './compile-connection.ts';
import { equals } from './compile-filter.ts';
import { callOf } from './compile-routine.ts';
import { compileRow, objectOrNull, resultJson, tableRows } from './compile-row.ts';
import type { StatementContext } from './context.ts';
import { tableSource } from './related-source.ts';
import { directScope } from './scope.ts';

/** The JSON text of a field, which is never SQL null. */
export function compileQueryField(value: ConnectionPlan | LookupPlan | RoutinePlan, context: StatementContext): Sql {
  switch (value.kind) {
    case 'connection':
      return compileConnection(value, tableRows(value.table), context, compileRow);
    case 'lookup':
      return compileLookup(value, context);
    case 'routine':
      return resultJson(value.result, callOf(value), context, value.routine.volatile);
  }
}

function compileLookup({ table, key, row }: LookupPlan, context: StatementContext): Sql {
  const scope = directScope(context.aliases.next(), table);
  const conditions = key.map(({ column, parameter }) => equals(column, parameter, scope));
  const json = concatenate(compileRow(row, scope, context));
  // The declared key of a view may match several rows.
  return objectOrNull(json, sql`${tableSource(table)} as ${trusted(scope.alias)}`, sql`${join(conditions, ' and ')} limit 1`);
}
