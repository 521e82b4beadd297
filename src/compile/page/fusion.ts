/**
 * The rows that are first in one of several orders, scored by their places (reciprocal rank fusion). For rows found by words or by vectors:
 *
 *     (select t5."key 1", sum(t5."score") from (
 *       (select t3."id", '1'::float8 / (60 + pg_catalog.row_number() over (order by t3."(order 1)" desc, t3."id"))
 *         from (select … from "public"."post" as t3 where … order by pg_catalog.ts_rank(…) desc, t3."id" limit 100) as t3)
 *       union all
 *       (select t4."id", … from (select … order by t4."embedding" operator("public".<=>) $1 …, t4."id" limit 100) as t4)
 *     ) as t5("key 1", "score") group by t5."key 1")
 *
 * Each order is a page of its own, so that the index of each finds its rows.
 */
import type { FusionLeg, FusionPlan } from '../../plan/plan.ts';
import { as, rowNumber, select, subselect } from '../../sql/clauses.ts';
import { bind, cast, join, literal, newLine, type Sql, sql } from '../../sql/sql.ts';
import { directScope } from '../scope.ts';
import { comparable } from '../values/comparison.ts';
import { type Collection, type FoundRows, fusedKey } from './collection.ts';
import { countSql, PageQuery } from './page-query.ts';
import { orderBy } from './seek.ts';

/** The collection, with its rows as those that are scored if it fuses several orders. */
export function withFusion(collection: Collection): Collection {
  const { plan, rows, context } = collection;
  if (plan.fusion === null || rows.kind === 'fused') return collection;
  const { fusion } = plan;
  const legs = fusion.legs.map((leg) => sql`(${selectLeg(collection, rows, fusion, leg)})`);
  const scope = directScope(context.aliases.next(), { keepsNotNull: false });
  const names = plan.table.primaryKey.map((_, index) => fusedKey(index));
  const keys = names.map((name) => scope.column(name));
  const scored = subselect({
    columns: [...keys, sql`sum(${scope.column('score')})`],
    from: as(sql`(${newLine}${join(legs, sql`${newLine}union all${newLine}`)})`, scope.alias, [...names, 'score']),
    groupBy: keys,
  });
  return { ...collection, rows: { kind: 'fused', found: rows, scored } };
}

function selectLeg(collection: Collection, rows: FoundRows, { k }: FusionPlan, { filter, keys, depth, weight }: FusionLeg): Sql {
  const { plan } = collection;
  const shown = {
    key: 'edges',
    name: 'edges',
    value: { kind: 'edges', members: [{ key: 'cursor', name: 'cursor', value: { kind: 'cursor' } }] },
  } as const;
  const page = new PageQuery({
    ...collection,
    rows,
    plan: {
      ...plan,
      filter,
      fusion: null,
      page: { direction: 'forward', limit: depth, offset: null, cursor: null, keys },
      members: [shown],
    },
  });
  const place = rowNumber(orderBy(page.cursorKeys()));
  const score = sql`${weight ? bind(weight, 'float8') : cast(literal('1'), 'float8')} / (${countSql(k)} + ${place})`;
  const key = plan.table.primaryKey.map(({ name, type }) => comparable(page.scope.output(name), type));
  return select({ columns: [...key, score], from: as(sql`(${page.select()})`, page.scope.alias) });
}
