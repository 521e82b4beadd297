/** Fields of Query as expressions of type text, which is JSON: those of a query, and those of the field `query` of a mutation. */
import type { ConnectionPlan, LookupPlan, RoutinePlan } from '../plan/plan.ts';
import { as, list } from '../sql/clauses.ts';
import { concatenate } from '../sql/json-text.ts';
import { identifier, integer, type Sql, sql } from '../sql/sql.ts';
import { equals } from './compile-filter.ts';
import { compileRow, objectOrNull, resultJson } from './compile-row.ts';
import { compileConnection } from './page/compile-connection.ts';
import { tableSource } from './related-rows.ts';
import { directScope } from './scope.ts';
import type { StatementContext } from './statement.ts';
import { bound } from './values/comparison.ts';

/** The JSON text of a field, which is never SQL null. */
export function compileQueryField(value: ConnectionPlan | LookupPlan | RoutinePlan, context: StatementContext): Sql {
  switch (value.kind) {
    case 'connection':
      return compileConnection({ plan: value, rows: { kind: 'table', relatedTo: null }, context });
    case 'lookup':
      return compileLookup(value, context);
    case 'routine':
      return resultJson(value.result, callOf(value), context, value.routine.volatile);
  }
}

function compileLookup({ table, key, row }: LookupPlan, context: StatementContext): Sql {
  const scope = directScope(context.aliases.next(), table);
  return objectOrNull({
    columns: [concatenate(compileRow(row, scope, context))],
    from: as(tableSource(table), scope.alias),
    where: key.map(({ column, parameter }) => equals(column, parameter, scope)),
    // The declared key of a view may match several rows.
    limit: integer(1),
  });
}

/**
 * A call in named notation (manual: Calling Functions), in which absent arguments take their defaults. A variadic argument must be last.
 */
export function callOf({ routine, arguments: given }: RoutinePlan): Sql {
  const inOrder = given.toSorted((one, other) => Number(one.argument.variadic) - Number(other.argument.variadic));
  const named = inOrder.map(
    ({ argument, parameter }) =>
      sql`${argument.variadic ? sql`variadic ` : sql``}${identifier(argument.name)} => ${bound(parameter, argument.type)}`,
  );
  return sql`${identifier(routine.schema, routine.name)}(${list(named)})`;
}
