/**
 * Rows, functions' results and fields of Query as JSON text. For the row `{ id title blog { name } }`:
 *
 *     concat('{"id":', t1."id", ',"title":', to_json(t1."title"), ',"blog":',
 *       coalesce((select concat('{"name":', to_json(t2."name"), '}')
 *         from "public"."blog" as t2 where t2."id" = t1."blog_id"), 'null'), '}')
 */
import type { Table } from '../model/model.ts';
import { namedTypes } from '../model/types/named-types.ts';
import type {
  ConnectionPlan,
  LineagePlan,
  ListPage,
  LookupPlan,
  ResultPlan,
  RoutinePlan,
  RowPlan,
  RowValue,
  TypeNamePlan,
} from '../plan/plan.ts';
import { as, coalesce, cte, list, type SelectClauses, select, subselect, withQueries } from '../sql/clauses.ts';
import { concatenate, type JsonText, jsonRows } from '../sql/json-text.ts';
import { builtIn, cast, identifier, integer, literal, type Sql, sql, trusted } from '../sql/sql.ts';
import { shapedValue, shapeScope } from './attributes.ts';
import { equals } from './compile-filter.ts';
import { needsOfLineage } from './page/collection.ts';
import { compileConnection, connectionJson, selectConnection } from './page/compile-connection.ts';
import { countSql } from './page/page-query.ts';
import { lineageQueries } from './related-rows.ts';
import {
  callOnRow,
  directScope,
  isNeverNull,
  joinConditions,
  type Scope,
  type ToOneValue,
  tableName,
  tableScope,
  targetScope,
} from './scope.ts';
import { searchRank, snippetJson } from './search.ts';
import { shardAlong, shardOfKey } from './shards.ts';
import { type Frame, noFrame, StatementContext } from './statement.ts';
import { bound, isNull } from './values/comparison.ts';
import { jsonPart } from './values/json-values.ts';
import { boundsJson } from './values/range-values.ts';
import { keyElementJson, opaqueIdJson, repeatsValue, valueJson } from './values/value-json.ts';

export function newContext(): StatementContext {
  return new StatementContext(compileRow, rowValue);
}

export function compileRow({ table, members }: RowPlan, scope: Scope, context: StatementContext): JsonText {
  return context.object(members, (value) => rowValue(value, table, scope, context));
}

function rowValue(value: Exclude<RowValue, TypeNamePlan>, table: Table, scope: Scope, context: StatementContext): JsonText {
  const computed = scope.withRows?.(value);
  if (computed) return [computed];
  switch (value.kind) {
    case 'column':
      return scope.columnJson(value.column);
    case 'json part':
      return jsonPart(scope.column(value.column.name), value.column, value.path, isNeverNull(value.column, scope));
    case 'bounds':
      return boundsJson({ ...value, type: value.column.type }, scope.column(value.column.name), isNeverNull(value.column, scope), context);
    case 'node id':
      return nodeIdJson(table, scope);
    case 'search rank':
      return value.search === null ? ['null'] : valueJson(searchRank(value.search, scope), namedTypes.float4, !value.mayBeNull);
    case 'search snippet':
      return snippetJson(value, scope);
    case 'to-one':
      return [toOne(value, table, scope, context)];
    case 'to-many':
      return connectionJson({
        plan: value.connection,
        rows: { kind: 'table', relatedTo: { relation: value.relation, near: scope } },
        context,
      });
    case 'lineage':
      return [lineageJson(value, scope, context)];
    case 'computed':
      return [resultJson(value.result, callOnRow(value.routine, scope, inputsOf(value.arguments)), context, value.routine.volatile)];
    case 'row column':
      return [rowColumn(scope.column(value.column.name), value, context)];
  }
}

/** All fields of the connection read the rows that one recursive query finds. */
function lineageJson({ lineage, maxDepth, connection }: LineagePlan, near: Scope, context: StatementContext): Sql {
  const collection = {
    plan: connection,
    rows: { kind: 'lineage', lineage, shard: shardAlong(lineage.parent, near.shard) },
    context,
  } as const;
  const found = lineageQueries(lineage, maxDepth, needsOfLineage(collection), near, context.aliases);
  return sql`(${withQueries(found, selectConnection(collection, noFrame), { recursive: true })})`;
}

function nodeIdJson(table: Table, scope: Scope): JsonText {
  const prefix = `[${JSON.stringify(table.schema)}, ${JSON.stringify(table.name)}`;
  const key: JsonText = table.primaryKey.flatMap((column) => [
    ', ',
    ...keyElementJson(scope.column(column.name), column.type, isNeverNull(column, scope)),
  ]);
  return opaqueIdJson(concatenate([prefix, ...key, ']']));
}

/**
 * Whether the row that a row of `table` refers to may have been deleted together with it, although the field must not be null. Then it is
 * returned as it was.
 */
export function mayBeGone({ relation }: ToOneValue, table: Table): boolean {
  return !relation.nullable && relation.target === table;
}

/** The row that the row in `scope` refers to. */
export function toOne(value: ToOneValue, table: Table, scope: Scope, context: StatementContext): Sql {
  const { relation, row } = value;
  const target = targetScope(relation, scope, context.aliases.next());
  return objectOrNull(
    {
      columns: [concatenate(compileRow(row, target, context))],
      from: as(tableName(relation.target), target.alias),
      where: joinConditions(relation, scope, target),
      // A key declared by a directive may match several rows.
      limit: relation.unique ? null : integer(1),
    },
    mayBeGone(value, table) ? scope.asWritten?.(value) : undefined,
  );
}

/** The object that a select returns; if there is none, `otherwise`. */
function objectOrNull(row: SelectClauses, otherwise = literal('null')): Sql {
  return coalesce(subselect(row), otherwise);
}

/** A column whose values are rows or arrays of them: of composite types, or of JSON with a shape. */
function rowColumn(value: Sql, { column, row, list }: Extract<RowValue, { kind: 'row column' }>, context: StatementContext): Sql {
  if (!column.shape) return list ? rowsJson(value, row, context) : rowJson(value, row, context);
  const json = shapedValue(value, column, column.shape);
  if (!list) return shapedJson(json, row, context);
  const [alias, inner] = [context.aliases.next(), context.aliases.next()];
  const from = as(sql`(select ${builtIn('jsonb_array_elements', trusted(`${alias}.value`))} as element)`, inner);
  const elements = select({ columns: [sql`'[' || ${jsonRows(shapedJson(trusted(`${inner}.element`), row, context))} || ']'`], from });
  // The document is computed once.
  return objectOrNull({
    columns: [sql`(${elements})`],
    from: as(sql`(select ${json} as value offset 0)`, alias),
    where: [sql`${trusted(alias)}.value is not null`],
  });
}

/** An object in jsonb with the members of a shape; null if it is none. */
function shapedJson(json: Sql, row: RowPlan, context: StatementContext): Sql {
  const alias = context.aliases.next();
  const value = trusted(`${alias}.value`);
  return objectOrNull({
    columns: [concatenate(compileRow(row, shapeScope(alias, value, row.table), context))],
    from: as(sql`(select ${json} as value offset 0)`, alias),
    where: [sql`${builtIn('jsonb_typeof', value)} = 'object'`],
  });
}

/** A value whose type is a table's row type. */
function rowJson(value: Sql, row: RowPlan, context: StatementContext): Sql {
  const alias = context.aliases.next();
  return objectOrNull({
    columns: [concatenate(compileRow(row, directScope(alias, { keepsNotNull: false, row: value }), context))],
    from: as(sql`(select (${value}).*)`, alias),
    where: [sql`${value} is distinct from null`],
  });
}

/** An array of values of a table's row type. */
function rowsJson(array: Sql, row: RowPlan, context: StatementContext): Sql {
  const alias = context.aliases.next();
  // In FROM, `unnest` would make a row of nulls of a null element.
  const elements = sql`(select ${builtIn('unnest', array)} as element)`;
  const json = rowJson(sql`${trusted(alias)}.element`, row, context);
  const list = select({ columns: [sql`'[' || ${jsonRows(json)} || ']'`], from: as(elements, alias) });
  return sql`case when ${array} is null then 'null' else (${list}) end`;
}

/** The JSON text of a function's result. `once` puts the call in FROM, so that it happens only once. */
export function resultJson(result: ResultPlan, call: Sql, context: StatementContext, once: boolean): Sql {
  switch (result.kind) {
    case 'value': {
      const json = (value: Sql): Sql => concatenate(valueJson(value, result.type, false));
      return once || repeatsValue(result.type) ? calledOnce(call, json, context) : json(call);
    }
    case 'bounds':
      return calledOnce(call, (value) => concatenate(boundsJson(result, value, false, context)), context);
    case 'row list':
      return calledOnce(call, (value) => rowsJson(value, result.row, context), context);
    case 'void':
      return subselect({ columns: [literal('null')], from: call });
    case 'row': {
      const scope = directScope(context.aliases.next(), { keepsNotNull: false });
      return objectOrNull({
        columns: [concatenate(compileRow(result.row, scope, context))],
        from: as(call, scope.alias),
        // In FROM, a function that returns no row yields a row of nulls.
        where: [sql`not (${scope.row} is null)`],
        limit: integer(1),
      });
    }
    case 'value set': {
      const alias = context.aliases.next();
      const json = concatenate(valueJson(sql`${trusted(alias)}.value`, result.type, false));
      return listOf(json, as(pageOf(as(call, alias, ['value']), result), alias));
    }
    case 'row set': {
      const scope = directScope(context.aliases.next(), { keepsNotNull: false });
      return listOf(concatenate(compileRow(result.row, scope, context)), as(pageOf(as(call, scope.alias), result), scope.alias));
    }
    case 'rows':
      if (once) return sql`(${selectCalled(result.connection, call, context, noFrame)})`;
      return compileConnection({ plan: result.connection, rows: { kind: 'call', call }, context });
  }
}

/** The values of a call in FROM, in its order: PostgreSQL runs a volatile function to its end, whatever the limit. */
function pageOf(call: Sql, { limit, offset }: ListPage): Sql {
  return subselect({ columns: [trusted('*')], from: call, limit: countSql(limit), offset: offset === null ? null : countSql(offset) });
}

function listOf(json: Sql, from: Sql): Sql {
  return subselect({ columns: [sql`'[' || ${jsonRows(cast(json, 'text'))} || ']'`], from });
}

/** In FROM itself, a composite value would become its attributes. `offset 0` keeps PostgreSQL from inlining the call. */
function calledOnce(call: Sql, json: (value: Sql) => Sql, context: StatementContext): Sql {
  const alias = context.aliases.next();
  const from = as(sql`(select ${call} as value offset 0)`, alias);
  return subselect({ columns: [json(sql`${trusted(alias)}.value`)], from });
}

/** Selects from the rows of a call that happens exactly once, however many fields of the connection are selected. */
export function selectCalled(connection: ConnectionPlan, call: Sql, context: StatementContext, frame: Frame): Sql {
  const called = cte('called', select({ columns: [trusted('*')], from: call }), { materialized: true });
  return withQueries([called], selectConnection({ plan: connection, rows: { kind: 'called' }, context }, frame));
}

/** The JSON text of a field of Query, or of the field `query` of a mutation; never SQL null. */
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

function compileLookup({ table, key, nulls, row }: LookupPlan, context: StatementContext): Sql {
  const scope = tableScope(context.aliases.next(), table, table.keepsNotNull, shardOfKey(table, key));
  return objectOrNull({
    columns: [concatenate(compileRow(row, scope, context))],
    from: as(tableName(table), scope.alias),
    where: [
      ...key.map(({ column, parameter }) => equals(column, parameter, scope)),
      ...nulls.map(({ name, type }) => isNull(scope.column(name), type)),
    ],
    // The declared key of a view may match several rows.
    limit: integer(1),
  });
}

/**
 * A call in named notation (manual: Calling Functions), in which absent arguments take their defaults. A variadic argument must be last.
 */
export function callOf({ routine, arguments: values }: RoutinePlan): Sql {
  return sql`${identifier(routine.schema, routine.name)}(${list(inputsOf(values))})`;
}

function inputsOf(values: RoutinePlan['arguments']): readonly Sql[] {
  const inOrder = values.toSorted((one, other) => Number(one.argument.variadic) - Number(other.argument.variadic));
  return inOrder.map(
    ({ argument, parameter }) =>
      sql`${argument.variadic ? sql`variadic ` : sql``}${identifier(argument.name)} => ${bound(parameter, argument.type)}`,
  );
}
