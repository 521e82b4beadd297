/**
 * Distances as SQL, with the operator of pgvector that an index serves. From a vector, and from that of a row:
 *
 *     (t1."embedding" operator("public".<=>) $1::public.vector)
 *     (t1."embedding" operator("public".<=>) (select t2."embedding" from "public"."plant" as t2 where t2."id" = $1::integer limit 1))
 */
import { metrics } from '../model/types/vector-metrics.ts';
import type { Distance, Filter } from '../plan/plan.ts';
import { as, select } from '../sql/clauses.ts';
import { bind, cast, identifier, integer, literal, type Sql, sql, trusted } from '../sql/sql.ts';
import { type Aliases, directScope, type Scope, tableName } from './scope.ts';
import { comparable, comparand } from './values/comparison.ts';

export function distanceSql({ column, vector, metric, from }: Distance, scope: Scope, aliases: Aliases): Sql {
  const operator = sql`operator(${identifier(vector.operatorSchema)}.${trusted(metrics[metric].symbol)})`;
  const origin = 'kind' in from ? sql`(${selectOrigin(from, column.name, aliases)})` : bind(from, vector.sqlType);
  return sql`(${scope.column(column.name)} ${operator} ${origin})`;
}

function selectOrigin({ table, key }: Extract<Distance['from'], { kind: 'row' }>, name: string, aliases: Aliases): Sql {
  const scope = directScope(aliases.next(), table);
  return select({
    columns: [scope.column(name)],
    from: as(tableName(table), scope.alias),
    where: key.map(
      ({ column, parameter }) => sql`${comparable(scope.column(column.name), column.type)} = ${comparand(parameter, column.type)}`,
    ),
    // The key of a view may match several rows.
    limit: integer(1),
  });
}

/** Whether there is a distance within the bound. Of vectors without a direction, the cosine distance is NaN. */
export function distanceCondition({ distance, within }: Extract<Filter, { kind: 'distance' }>, scope: Scope, aliases: Aliases): Sql {
  const value = distanceSql(distance, scope, aliases);
  if (within) return sql`${value} <= ${bind(within, 'double precision')}`;
  if (metrics[distance.metric].isPartial) return sql`${value} <> ${cast(literal('NaN'), 'double precision')}`;
  return 'kind' in distance.from ? sql`${value} is not null` : sql`${scope.column(distance.column.name)} is not null`;
}
