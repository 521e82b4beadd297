/**
 * Distances as SQL, with the operator that an index serves. From a vector, from that of a row, and from a text:
 *
 *     (t1."embedding" operator(public.<=>) $1::public.vector)
 *     (t1."embedding" operator(public.<=>) (select t2."embedding" from "public"."plant" as t2 where t2."id" = $1::integer limit 1))
 *     (t1."name"::text operator(public.<->) $1::text)
 */
import { metrics } from '../model/types/metrics.ts';
import type { Distance, Filter } from '../plan/conditions.ts';
import type { Parameter } from '../plan/parameter.ts';
import { as, select } from '../sql/clauses.ts';
import { bind, cast, integer, literal, type Sql, sql, trusted } from '../sql/sql.ts';
import { type Aliases, directScope, type Scope, tableName } from './scope.ts';
import { comparable, comparand } from './values/comparison.ts';

export function distanceSql(distance: Distance, scope: Scope, aliases: Aliases): Sql {
  const { measured, metric, from } = distance;
  const operator = trusted(`operator(${measured.operatorSchema}.${metrics[metric].symbol})`);
  const origin = 'kind' in from ? sql`(${selectOrigin(distance, from, aliases)})` : givenOrigin(distance, from);
  return sql`(${measuredValue(distance, scope)} ${operator} ${origin})`;
}

/** A place is moved to the coordinates of the column. */
function givenOrigin({ column, measured }: Distance, from: Parameter): Sql {
  return measured.form === 'place' ? comparand(from, column.type) : bind(from, measured.sqlType);
}

function measuredValue({ column, measured: { castTo } }: Distance, scope: Scope): Sql {
  const value = scope.column(column.name);
  return castTo === null ? value : cast(value, castTo);
}

function selectOrigin(distance: Distance, { table, key }: Extract<Distance['from'], { kind: 'row' }>, aliases: Aliases): Sql {
  const scope = directScope(aliases.next(), table);
  return select({
    columns: [measuredValue(distance, scope)],
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
  const { from, metric, measured } = distance;
  if (within) return sql`${value} <= ${bind(within, metrics[metric].result)}`;
  if (metrics[metric].isPartial) return sql`${value} <> ${cast(literal('NaN'), 'double precision')}`;
  if ('kind' in from) return sql`${value} is not null`;
  const isPresent = sql`${scope.column(distance.column.name)} is not null`;
  // No text that PostgreSQL cannot store is near another.
  return from.encoding.kind === 'vector' ? isPresent : sql`(${isPresent} and ${bind(from, measured.sqlType)} is not null)`;
}
