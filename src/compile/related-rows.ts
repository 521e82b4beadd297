/**
 * Related rows in FROM: those of a relation or a function, and those of a lineage, which a recursive query finds level by level. For the
 * descendants of the row in `t1`:
 *
 *     with recursive lineage as (
 *       select t2."id", t2."parent_id", 1 as "(depth)" from "public"."category" as t2
 *       where t2."parent_id" = t1."id" and (t2."id" = t1."id") is not true
 *       union all
 *       select t3."id", t3."parent_id", lineage."(depth)" + 1 from lineage join "public"."category" as t3 on t3."parent_id" = lineage."id"
 *       where lineage."(depth)" < 100 and (t3."id" = t1."id") is not true
 *     )
 */
import type { ColumnPair, Lineage } from '../model/model.ts';
import type { RelatedRows } from '../model/relations/related-rows.ts';
import type { Count } from '../plan/parameter.ts';
import { and, as, cte, list, named, select, withQueries } from '../sql/clauses.ts';
import { bind, identifier, integer, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import {
  type Aliases,
  callOnRow,
  directScope,
  joinConditions,
  nameBesideColumns,
  type RowNeeds,
  type Scope,
  tableName,
  tableScope,
  targetScope,
} from './scope.ts';
import { type Shard, shardAlong } from './shards.ts';
import { comparable } from './values/comparison.ts';

/** Related rows, with the conditions that relate them to the row that leads to them. */
interface RelatedFrom {
  readonly scope: Scope;
  readonly from: Sql;
  readonly conditions: readonly Sql[];
}

/** The rows that the row in `near` leads to. `needs` is what is needed of them. */
export function relatedRows({ by, target, many }: RelatedRows, near: Scope, aliases: Aliases, needs: RowNeeds): RelatedFrom {
  const alias = aliases.next();
  switch (by.kind) {
    case 'relation': {
      const scope = targetScope(by.relation, near, alias);
      return { scope, from: as(tableName(target), alias), conditions: joinConditions(by.relation, near, scope) };
    }
    case 'computed': {
      const scope = directScope(alias, { keepsNotNull: false });
      // In FROM, a function that returns no row yields a row of nulls.
      return { scope, from: as(callOnRow(by.routine, near), alias), conditions: many ? [] : [sql`not (${scope.row} is null)`] };
    }
    case 'lineage': {
      const { lineage } = by;
      const found = lineageQueries(lineage, lineage.maxDepth, needs, near, aliases);
      const all = withQueries(found, select({ columns: [trusted('*')], from: trusted(lineageName) }), { recursive: true });
      const scope = lineageScope(lineage, alias, shardAlong(lineage.parent, near.shard));
      return { scope, from: as(sql`(${all})`, alias), conditions: [] };
    }
  }
}

/** What the common table expression with the rows is called. */
export const lineageName = 'lineage';
const ascent = 'ascent';

export function lineageScope({ parent: { target } }: Lineage, alias: string, shard: Shard | undefined): Scope {
  return directScope(alias, { keepsNotNull: target.keepsNotNull, shard, row: sql`${trusted(alias)}.${identifier(rowName(target))}` });
}

function rowName(table: Lineage['parent']['target']): string {
  return nameBesideColumns(table, '(row)');
}

/**
 * Common table expressions, of which `lineage` has the rows above or below the row in `near`, without itself. As a row has at most one above
 * it, descending can only come back to where it began, and ascending can only get into a cycle, which PostgreSQL's CYCLE clause ends.
 */
export function lineageQueries(lineage: Lineage, maxDepth: Count, needs: RowNeeds, near: Scope, aliases: Aliases): readonly Sql[] {
  const { target: table, columns: pairs } = lineage.parent;
  if (lineage.direction === 'descendants')
    return [sql`${trusted(lineageName)} as (${levels(lineage, lineageName, maxDepth, needs, near, aliases)})`];
  const [again, path] = [nameBesideColumns(table, '(again)'), nameBesideColumns(table, '(path)')];
  const key = list(pairs.map(({ target }) => identifier(target)));
  const cycle = sql`cycle ${key} set ${identifier(again)} using ${identifier(path)}`;
  const onlyOnce = select({ columns: [trusted('*')], from: trusted(ascent), where: [sql`not ${identifier(again)}`] });
  return [sql`${trusted(ascent)} as (${levels(lineage, ascent, maxDepth, needs, near, aliases)}) ${cycle}`, cte(lineageName, onlyOnce)];
}

/** The first level and, as long as it finds rows, the next. `name` is what these are called. */
function levels(lineage: Lineage, name: string, maxDepth: Count, needs: RowNeeds, near: Scope, aliases: Aliases): Sql {
  const { direction, parent, depthName } = lineage;
  const { target: table, columns: pairs } = parent;
  const [first, next] = [tableScope(aliases.next(), table, table.keepsNotNull), tableScope(aliases.next(), table, table.keepsNotNull)];
  const last = directScope(name, table);
  const columns = [...new Set([...pairs.flatMap((pair) => [pair.near, pair.target]), ...needs.columns])].filter(
    (each) => each !== depthName,
  );
  const rowOf = (row: Scope, depth: Sql): Sql[] => [
    ...columns.map((column) => row.column(column)),
    ...(needs.row ? [named(sql`${row.row}::${tableName(table)}`, rowName(table))] : []),
    named(depth, depthName),
  ];
  const leadsTo = (from: Scope, to: Scope) =>
    direction === 'ancestors' ? joinConditions(parent, from, to) : joinConditions(parent, to, from);
  const shard = shardAlong(parent, near.shard);
  const isAnother = (row: Scope): Sql[] => [
    sql`(${and(pairs.map((pair) => isSame(pair, row, near)))}) is not true`,
    ...(shard ? [sql`${row.column(shard.column)} = ${shard.value}`] : []),
  ];
  const most = typeof maxDepth === 'number' ? integer(maxDepth) : sql`coalesce(${bind(maxDepth, 'integer')}, ${integer(lineage.maxDepth)})`;
  const depth = last.column(depthName);
  const start = select({
    columns: rowOf(first, integer(1)),
    from: as(tableName(table), first.alias),
    where: [...leadsTo(near, first), ...isAnother(first), ...(typeof maxDepth === 'number' && maxDepth > 0 ? [] : [sql`${most} > 0`])],
  });
  const step = select({
    columns: rowOf(next, sql`${depth} + 1`),
    from: trusted(name),
    joins: [sql`join ${as(tableName(table), next.alias)} on ${and(leadsTo(last, next))}`],
    where: [sql`${depth} < ${most}`, ...isAnother(next)],
  });
  return sql`${start}${newLine}union all${newLine}${step}`;
}

function isSame({ target, targetType }: ColumnPair, one: Scope, other: Scope): Sql {
  return sql`${comparable(one.column(target), targetType)} = ${comparable(other.column(target), targetType)}`;
}
