/** The response of a nested write, by the keys of the written rows. */

import { DerivedScope, directScope, type Scope, tableName, tableScope } from '../../compile/scope.ts';
import { type Frame, type StatementContext, selectList } from '../../compile/statement.ts';
import { comparedType } from '../../compile/values/comparison.ts';
import { hasRows, responseNeeds, responseOfNone, responseOfOne, responseOfRows } from '../../compile/write/compile-response.ts';
import { keeping } from '../../compile/write/sharded-mutation.ts';
import type { KeyList, NestedWritePlan } from '../../plan/nested-write-plan.ts';
import { and, as, coalesce, named, select, subselect } from '../../sql/clauses.ts';
import { concatenate } from '../../sql/json-text.ts';
import { integer, type Sql, sql, trusted } from '../../sql/sql.ts';
import { areAmong, comparedColumn, isPair, keyOf } from './key-conditions.ts';
import { keyLabel, type StoredKeys } from './stored-keys.ts';

export function compileResponse(plan: NestedWritePlan, keys: StoredKeys, context: StatementContext, frame: Frame): Sql {
  const { table, written, members } = plan;
  if (table.placement !== null) return shardedResponse(plan, keys, context, frame);
  const scope = directScope(context.aliases.next(), table);
  const rows = hasRows(members) ? rowsOf(written, scope, keys) : {};
  const labels = keys.labels(written);
  // A query would be in both parts.
  const queries = members.some(({ value }) => value.kind === 'query');
  if (hasRows(members) && !queries && labels?.length === 1 && table.keyIsUnique) {
    const row = select({ columns: [concatenate(responseOfOne(members, scope, context))], ...rows });
    return select({ columns: [selectList(frame, [coalesce(sql`(${row})`, responseOfNone(members, context, '1'))])] });
  }
  // The order of the inputs: by label, then by row number.
  const order = labels === null ? [keyLabel('k'), trusted('k.m')] : labels.length > 1 ? [trusted('k.m')] : [];
  const json = responseOfRows(members, scope, { count: keys.count(written), order }, context);
  return select({ columns: [selectList(frame, [concatenate(json)])], ...rows });
}

/** The current rows of a list. `k` is the list, if it has several. */
function rowsOf(written: KeyList, scope: Scope, keys: StoredKeys): { readonly from: Sql; readonly joins?: Sql[]; readonly where: Sql[] } {
  const pairs = keyOf(written.table);
  const rows = as(tableName(written.table), scope.alias);
  if (keys.labels(written)?.length === 1) {
    const isOnly = pairs.map((pair) => sql`${comparedColumn(pair, scope)} = ${keys.only(written, pair.of, comparedType(pair.type))}`);
    return { from: rows, where: isOnly };
  }
  const isSame = pairs.map((pair) => isPair(written, 'k', pair, scope, keys));
  return { from: keys.rows(written, 'k'), joins: [sql`join ${rows} on ${and(isSame)}`], where: areAmong(written, pairs, scope, keys) };
}

/** The response of rows on shards, with which what is related to them is read (`compile/shards.ts`). */
function shardedResponse({ table, written, members }: NestedWritePlan, keys: StoredKeys, context: StatementContext, frame: Frame): Sql {
  const rows = new DerivedScope(context.aliases.next(), table, responseNeeds(members), table.keepsNotNull);
  const inner = tableScope(rows.alias, table, table.keepsNotNull);
  const isSame = keyOf(table).map((pair) => isPair(written, 'k', pair, inner, keys));
  const names = [rows.freeName('(label)'), rows.freeName('(number)')] as const;
  const label = keys.labels(written) === null ? keyLabel('k') : integer(1);
  const read = subselect({
    columns: [...rows.outputs(inner, context.valueJson), named(label, names[0]), named(trusted('k.m'), names[1])],
    from: keys.rows(written, 'k'),
    joins: [sql`join ${as(tableName(table), inner.alias)} on ${and(isSame)}`],
    offset: integer(0),
  });
  const order = names.map((name) => rows.output(name));
  const json = concatenate(responseOfRows(members, rows, { count: keys.count(written), order }, context));
  return keeping(frame, json, hasRows(members) ? as(rows.withJson(read), rows.alias) : null);
}
