/**
 * A connection as JSON text: a subselect reads the page, and the select around it aggregates the edges. For
 * `{ edges { node { id } } pageInfo { hasNextPage } }` of the first 20:
 *
 *     (select concat('{"edges":[',
 *        coalesce(string_agg(concat('{"node":{"id":', t1."id", '}}'), ',') filter (where t1."(number)" <= 20), ''),
 *        '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 20)::text, '}}')
 *      from (select t1."id", pg_catalog.row_number() over (order by t1."id") as "(number)" from "public"."account" as t1
 *        order by t1."id" limit 21) as t1)
 */
import { namedTypes } from '../../model/types/named-types.ts';
import type { EdgeValue, Member, Page, PageInfoValue, TypeNamePlan } from '../../plan/plan.ts';
import { traitsOfOrder } from '../../plan/traits/order-traits.ts';
import { as, coalesce, countRows, select, subselect } from '../../sql/clauses.ts';
import { concatenate, type JsonText, jsonRows } from '../../sql/json-text.ts';
import { builtIn, integer, join, literal, type Sql, sql } from '../../sql/sql.ts';
import { distanceSql } from '../distance.ts';
import { isAggregate, selectAggregate, selectAggregates } from '../groups/compile-aggregate.ts';
import { selectGroups } from '../groups/compile-groups.ts';
import type { Scope } from '../scope.ts';
import { type Frame, noFrame, type StatementContext, selectList } from '../statement.ts';
import { isNotNull } from '../values/comparison.ts';
import { opaqueId, opaqueIdJson, quotedOrNull, valueJson } from '../values/value-json.ts';
import { type Collection, matchingRows, nullableKey } from './collection.ts';
import { withFusion } from './fusion.ts';
import { keysOfRow, type WrittenKey } from './order-keys.ts';
import { PageQuery } from './page-query.ts';
import { cursorText } from './seek.ts';

type PageInfoKind = Exclude<PageInfoValue, TypeNamePlan>['kind'];

/**
 * The connection as a member of a row. If it has only one computed value, such as the edges, only that value becomes a subselect, and the
 * JSON around it becomes part of the row's JSON, which saves a call.
 */
export function connectionJson(found: Collection): JsonText {
  const collection = withFusion(found);
  if (collection.plan.members.every(isAggregate)) return [compileConnection(collection)];
  const page = new PageQuery(collection);
  const pieces = pageJson(collection, page);
  if (!page.needs.isRead) return pieces;
  const isOnly = pieces.filter((piece) => typeof piece !== 'string').length === 1;
  if (!isOnly) return [sql`(${selectFromPage(page, [concatenate(pieces)], noFrame)})`];
  return pieces.map((piece) => (typeof piece === 'string' ? piece : sql`(${selectFromPage(page, [piece], noFrame)})`));
}

export function compileConnection(collection: Collection): Sql {
  return sql`(${selectConnection(collection, noFrame)})`;
}

export function selectConnection(found: Collection, frame: Frame): Sql {
  const collection = withFusion(found);
  const { members } = collection.plan;
  if (members.every(isAggregate)) return selectAggregates(collection, members, frame);
  const page = new PageQuery(collection);
  const columns = collection.plan.isStream ? streamColumns(collection, page) : [concatenate(pageJson(collection, page))];
  return selectFromPage(page, columns, frame);
}

/** The edges, and the cursor of the last as JSON. */
function streamColumns(collection: Collection, page: PageQuery): Sql[] {
  const {
    members,
    page: { direction },
  } = collection.plan;
  const lists = members.flatMap(({ value }) => (value.kind === 'edges' ? [edges(collection, page, value.members)] : []));
  return [concatenate(['[', ...lists, ']']), pageInfo('end cursor', direction, page)];
}

function selectFromPage(page: PageQuery, columns: readonly Sql[], frame: Frame): Sql {
  const from = page.needs.isRead ? as(page.scope.withJson(sql`(${page.select()})`), page.scope.alias) : null;
  return select({ columns: [selectList(frame, columns)], from });
}

function pageJson(collection: Collection, page: PageQuery): JsonText {
  const { plan, context } = collection;
  return context.object(plan.members, (value) => {
    switch (value.kind) {
      case 'edges':
        return ['[', page.needs.isOneRow ? onlyEdge(collection, page, value.members) : edges(collection, page, value.members), ']'];
      case 'page info':
        return context.object(value.members, (each) => [pageInfo(each.kind, plan.page.direction, page)]);
      case 'groups':
        return [sql`(${selectGroups(collection, value.groups)})`];
      case 'total count':
      case 'aggregate':
        return [sql`(${selectAggregate(collection, value)})`];
    }
  });
}

function edges(collection: Collection, page: PageQuery, members: readonly Member<EdgeValue>[]): Sql {
  const { plan, context } = collection;
  const { oneMore } = page.needs;
  const key = nullableKey(collection);
  const conditions = [
    ...(oneMore ? [sql`${page.number()} <= ${page.lastNumber()}`] : []),
    ...(key ? [isNotNull(page.scope.column(key.name), key.type)] : []),
  ];
  const order = plan.page.direction === 'backward' ? [sql`${page.number()} desc`] : [];
  return jsonRows(edgeJson(members, page.cursorKeys(), page.scope, context), order, conditions);
}

/** The only edge, in a subselect that fails if there is a second row: after a schema change, the key may no longer be unique. */
function onlyEdge(collection: Collection, page: PageQuery, members: readonly Member<EdgeValue>[]): Sql {
  const { plan, context } = collection;
  const { scope, from, where } = matchingRows(collection, page.scope.alias);
  const edge = edgeJson(members, keysOfRow(plan.page.keys, scope, context.aliases), scope, context);
  return coalesce(subselect({ columns: [edge], from, where }), literal(''));
}

/**
 * An edge as JSON text: its node and its cursor, which has the value of each order key of the collection. For `{ cursor node { id } }`:
 *
 *     concat('{"cursor":"', encode(convert_to(concat('[', t1."id", ']'), 'UTF8'), 'base64'), '","node":{"id":', t1."id", '}}')
 */
export function edgeJson(members: readonly Member<EdgeValue>[], keys: readonly WrittenKey[], scope: Scope, context: StatementContext): Sql {
  return concatenate(
    context.object(members, (value) => {
      switch (value.kind) {
        case 'node':
          return context.rowJson(value.row, scope);
        case 'cursor':
          return opaqueIdJson(cursorText(keys));
        case 'depth':
          return value.lineage ? valueJson(scope.column(value.lineage.depthName), namedTypes.int4, true) : ['null'];
        case 'distance':
        case 'score':
          return orderedJson(value, keys, scope, context);
      }
    }),
  );
}

/** A value of the order that edges show; null if the rows are not in it. */
function orderedJson(
  value: Exclude<EdgeValue, { kind: 'type name' | 'cursor' | 'node' | 'depth' }>,
  keys: readonly WrittenKey[],
  scope: Scope,
  context: StatementContext,
): JsonText {
  const key = keys.find((each) => each.value.kind === value.kind);
  if (key) return valueJson(key.sql, traitsOfOrder(key.value).type, false);
  // Rows that a fusion found otherwise may have no distance.
  if (value.kind !== 'distance' || value.distance === null) return ['null'];
  const { type } = traitsOfOrder({ kind: 'distance', distance: value.distance });
  return valueJson(sql`nullif(${distanceSql(value.distance, scope, context.aliases)}, 'NaN')`, type, false);
}

function pageInfo(kind: PageInfoKind, direction: Page['direction'], page: PageQuery): Sql {
  const isForward = direction === 'forward';
  switch (kind) {
    case 'start cursor':
      return cursorAt(isForward ? 'first' : 'last', direction, page);
    case 'end cursor':
      return cursorAt(isForward ? 'last' : 'first', direction, page);
    case 'has next page':
      return isForward ? hasMore(page) : hasPreceding(page);
    case 'has previous page':
      return isForward ? hasPreceding(page) : hasMore(page);
  }
}

/** The cursor of the first or last row in paging order. */
function cursorAt(end: 'first' | 'last', direction: Page['direction'], page: PageQuery): Sql {
  const { oneMore } = page.needs;
  const last = oneMore ? sql`least(${countRows}, ${page.limit()})` : countRows;
  // Without its own ORDER BY, the aggregate takes the rows in the order of the subselect.
  const order = direction === 'backward' ? sql` order by ${page.number()}` : sql``;
  const cursors = builtIn('array_agg', sql`${cursorText(page.cursorKeys())}${order}`);
  const id = quotedOrNull(opaqueId(sql`(${cursors})[${end === 'first' ? integer(1) : last}]`));
  // A page without rows has read one more all the same.
  return oneMore && end === 'first' ? sql`case when ${page.limit()} > 0 then ${id} else 'null' end` : id;
}

function hasMore(page: PageQuery): Sql {
  return sql`(${countRows} > ${page.limit()})::text`;
}

/** Whether rows precede the page in the direction of paging. False for an empty page, as in pg_graphql. */
function hasPreceding(page: PageQuery): Sql {
  const conditions = page.precedingConditions();
  if (conditions.length === 0) return literal('false');
  return sql`(${countRows} > 0 and ${page.limit()} > 0 and (${join(conditions, ' or ')}))::text`;
}
