/**
 * An edge as JSON text: its node and its cursor, which has the value of each order key of the collection. For `{ cursor node { id } }`:
 *
 *     concat('{"cursor":"', encode(convert_to(concat('[', t1."id", ']'), 'UTF8'), 'base64'), '","node":{"id":', t1."id", '}}')
 */
import type { EdgeValue, Member, OrderKey, RowPlan } from '../../plan/plan.ts';
import { concatenate, type JsonText, jsonObject } from '../../sql/json-text.ts';
import type { Sql } from '../../sql/sql.ts';
import type { Scope } from '../scope.ts';
import { type StatementContext, typeNameJson } from '../statement.ts';
import { cursorElementJson, opaqueIdJson } from '../values/value-json.ts';
import { type OrderValues, typeOf } from './order-values.ts';

/** Compiles the JSON text of a node. It is a parameter because rows and connections contain each other. */
export type RowCompiler = (row: RowPlan, scope: Scope, context: StatementContext) => JsonText;

/** The JSON text of an edge of the row in `scope`. `keys` are the order keys of its collection, whose SQL is in `values`. */
export function edgeJson(
  members: readonly Member<EdgeValue>[],
  keys: readonly OrderKey[],
  scope: Scope,
  values: OrderValues,
  context: StatementContext,
  compileRow: RowCompiler,
): Sql {
  const json = (value: EdgeValue): JsonText => {
    switch (value.kind) {
      case 'type name':
        return typeNameJson(value.name);
      case 'cursor':
        return opaqueIdJson(cursorText(keys, values));
      case 'node':
        return compileRow(value.row, scope, context);
    }
  };
  return concatenate(jsonObject(members.map((member) => ({ key: context.key(member), value: json(member.value) }))));
}

/** The content of a cursor: a JSON array with the value of each key. */
export function cursorText(keys: readonly OrderKey[], values: OrderValues): Sql {
  const elements: JsonText = keys.flatMap(({ value }, index) => [
    ...(index > 0 ? [', '] : []),
    ...cursorElementJson(values.sqlOf(value), typeOf(value), values.isNeverNull(value)),
  ]);
  return concatenate(['[', ...elements, ']']);
}
