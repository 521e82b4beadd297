/**
 * A row as JSON text: columns, relations, computed fields. For `{ id title blog { name } }`:
 *
 *     concat('{"id":', t1."id", ',"title":', to_json(t1."title"), ',"blog":',
 *       coalesce((select concat('{"name":', to_json(t2."name"), '}') from "public"."blog" as t2 where t2."id" = t1."blog_id"), 'null'), '}')
 */
import type { Column, Relation, Table } from '../model/model.ts';
import type { ConnectionPlan, ResultPlan, RowPlan, RowValue } from '../plan/plan.ts';
import { concatenate, type JsonText, jsonObject } from '../sql/json-text.ts';
import { builtIn, identifier, join, literal, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import { compileConnection, connectionJson, selectConnection } from './page/compile-connection.ts';
import type { Source } from './page/page-query.ts';
import { callOnRow, joinConditions, tableSource } from './related-rows.ts';
import { directScope, type Scope } from './scope.ts';
import { type Frame, noFrame, type StatementContext, typeNameJson } from './statement.ts';
import { keyElementJson, opaqueIdJson, repeatsValue, valueJson } from './values/value-json.ts';

/** The JSON text of the row in `scope`. */
export function compileRow({ table, members }: RowPlan, scope: Scope, context: StatementContext): JsonText {
  const once = new Set<Column>();
  const repeated = new Set<Column>();
  for (const { value } of members) {
    if (value.kind === 'column') (once.has(value.column) ? repeated : once).add(value.column);
  }
  return jsonObject(
    members.map((member) => {
      const { value } = member;
      const key = context.key(member);
      if (value.kind !== 'column') return { key, value: rowValue(value, table, scope, context) };
      const { column } = value;
      const isKept = repeated.has(column) || scope.keep !== undefined;
      return {
        key,
        value: isKept ? [scope.repeated(column.name, (of) => concatenate(columnJson(column, of)))] : columnJson(column, scope),
      };
    }),
  );
}

function columnJson(column: Column, scope: Scope): JsonText {
  return valueJson(scope.column(column.name), column.type, scope.isNeverNull(column));
}

function rowValue(value: Exclude<RowValue, { kind: 'column' }>, table: Table, scope: Scope, context: StatementContext): JsonText {
  switch (value.kind) {
    case 'type name':
      return typeNameJson(value.name);
    case 'node id':
      return nodeIdJson(table, scope);
    case 'to-one':
      return [toOne(value.relation, value.row, table, scope, context)];
    case 'to-many': {
      const { relation, connection } = value;
      const source = tableRows(relation.target, (inner) => joinConditions(relation, scope, inner));
      return connectionJson(connection, source, context, compileRow);
    }
    case 'computed': {
      return [resultJson(value.result, callOnRow(value.routine, scope), context, value.routine.volatile)];
    }
    case 'row column':
      return [rowColumn(scope.column(value.column.name), value.row, value.list, context)];
  }
}

/** The rows of a table, as the source of a collection. */
export function tableRows(table: Table, conditions: Source['conditions'] = () => []): Source {
  return { from: tableSource(table), isTable: true, conditions };
}

function nodeIdJson(table: Table, scope: Scope): JsonText {
  const prefix = `[${JSON.stringify(table.schema)}, ${JSON.stringify(table.name)}`;
  const key: JsonText = table.primaryKey.flatMap((column) => [
    ', ',
    ...keyElementJson(scope.column(column.name), column.type, scope.isNeverNull(column)),
  ]);
  return opaqueIdJson(concatenate([prefix, ...key, ']']));
}

/**
 * The row that the row of a table refers to. If it was deleted together with it, and the field must not be null, it is returned as it was.
 */
function toOne(relation: Relation, row: RowPlan, table: Table, scope: Scope, context: StatementContext): Sql {
  const mayBeGone = !relation.nullable && relation.target === table;
  const target = directScope(context.aliases.next(), relation.target);
  const conditions = joinConditions(relation, scope, target);
  // A key declared by a directive may match several rows.
  const limit = relation.unique ? sql`` : sql` limit 1`;
  return objectOrNull(
    concatenate(compileRow(row, target, context)),
    sql`${tableSource(relation.target)} as ${trusted(target.alias)}`,
    sql`${join(conditions, ' and ')}${limit}`,
    mayBeGone ? scope.keep?.((of) => toOne(relation, row, table, of, context)) : undefined,
  );
}

/** The row as an object; if there is none, `otherwise`. */
export function objectOrNull(json: Sql, from: Sql, where: Sql, otherwise = literal('null')): Sql {
  return sql`coalesce((select ${json}${newLine}from ${from}${newLine}where ${where}), ${otherwise})`;
}

/** A value whose type is a table's row type, or an array of it. */
function rowColumn(column: Sql, row: RowPlan, list: boolean, context: StatementContext): Sql {
  const alias = context.aliases.next();
  if (!list) {
    const json = concatenate(compileRow(row, directScope(alias, { keepsNotNull: false, row: column }), context));
    return objectOrNull(json, sql`(select (${column}).*) as ${trusted(alias)}`, sql`${column} is distinct from null`);
  }
  // In FROM, `unnest` would make a row of nulls of a null element.
  const elements = sql`(select ${builtIn('unnest', column)} as element)`;
  const json = rowColumn(sql`${trusted(alias)}.element`, row, false, context);
  return sql`case when ${column} is null then 'null' else (select '[' || coalesce(pg_catalog.string_agg(${json}, ','), '') || ']' from ${elements} as ${trusted(alias)}) end`;
}

/** The JSON text of a function's result. `once` puts the call in FROM, so that it happens only once. */
export function resultJson(result: ResultPlan, call: Sql, context: StatementContext, once: boolean): Sql {
  switch (result.kind) {
    case 'value': {
      if (!once && !repeatsValue(result.type)) return concatenate(valueJson(call, result.type, false));
      const alias = context.aliases.next();
      const json = concatenate(valueJson(sql`${trusted(alias)}.value`, result.type, false));
      // In FROM itself, a composite value would become its attributes. `offset 0` keeps PostgreSQL from inlining the call.
      return sql`(select ${json} from (select ${call} as value offset 0) as ${trusted(alias)})`;
    }
    case 'row list': {
      const alias = context.aliases.next();
      const json = rowColumn(sql`${trusted(alias)}.value`, result.row, true, context);
      return sql`(select ${json} from (select ${call} as value offset 0) as ${trusted(alias)})`;
    }
    case 'void':
      return sql`(select ${literal('null')} from ${call})`;
    case 'row': {
      const scope = directScope(context.aliases.next(), { keepsNotNull: false });
      const json = concatenate(compileRow(result.row, scope, context));
      // In FROM, a function that returns no row yields a row of nulls.
      return objectOrNull(json, sql`${call} as ${trusted(scope.alias)}`, sql`not (${scope.row()} is null) limit 1`);
    }
    case 'rows':
      if (once) return sql`(${selectCalled(result.connection, call, context, noFrame)})`;
      return compileConnection(result.connection, { from: call, isTable: false, conditions: () => [] }, context, compileRow);
  }
}

/** Selects from the rows of a call that happens exactly once, however many fields of the connection are selected. */
export function selectCalled(connection: ConnectionPlan, call: Sql, context: StatementContext, frame: Frame): Sql {
  const { table } = connection;
  const rowType = identifier(table.schema, table.name);
  const source = { from: sql`called`, isTable: false, conditions: () => [], row: (alias: string) => sql`${trusted(alias)}.*::${rowType}` };
  return sql`with called as materialized (select * from ${call})${newLine}${selectConnection(connection, source, context, compileRow, frame)}`;
}
