/**
 * Compiles a plan to SQL. A query is one statement with a column for each root field; a mutation is a statement for each root field, in
 * order.
 */

import { type Guard, schemaGuard } from '../freshness/schema-guard.ts';
import type { Table } from '../model/model.ts';
import type { ConnectionPlan, LookupPlan, Parameter, Plan, RootValue, RoutinePlan } from '../plan/plan.ts';
import { concatenate } from '../sql/json-text.ts';
import { bind, identifier, join, render, renderInSteps, type Sql, sql, trusted } from '../sql/sql.ts';
import { compileConnection, selectConnection } from './compile-connection.ts';
import { equals } from './compile-filter.ts';
import { canGuardSource, compileMutation } from './compile-mutation.ts';
import { compileSteps, compileWritten } from './compile-nested.ts';
import { compileRow, objectOrNull, resultJson, selectCalled, tableRows } from './compile-row.ts';
import { StatementContext } from './context.ts';
import { tableSource } from './related-source.ts';
import { directScope } from './scope.ts';
import { type Frame, guardColumns, noFrame, resultSetting, selectList } from './statement-frame.ts';

/** An operation ready to run with any parameter values. */
export interface CompiledOperation {
  readonly kind: Plan['kind'];
  /** Whether a statement checks the schema version before anything else happens, so that the session statement need not. */
  readonly checksVersion: boolean;
  /** In response order. */
  readonly roots: readonly CompiledRoot[];
  readonly statements: readonly CompiledStatement[];
}

export interface CompiledStatement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** For a step of a nested write: the table that it writes, and the place of its inputs in the arguments of the root field. */
  readonly step?: { readonly table: Table; readonly place: string };
}

/** The source of a root field's value. */
export type CompiledRoot =
  | { readonly kind: 'json'; readonly key: string; readonly json: string }
  | { readonly kind: 'introspection'; readonly key: string }
  | {
      readonly kind: 'column';
      readonly key: string;
      readonly statement: number;
      readonly column: number;
      /** The JSON if the statement returns no row. */
      readonly empty: string;
    };

/**
 * Compiles a plan, yielding between root fields and before rendering a text. The text depends only on the plan, never on bound values, and
 * on whether there is a schema version to check. `keepsResults` makes each statement of a mutation store its result in a setting
 * (`statement-frame.ts`).
 */
export function* compilePlan({ kind, roots }: Plan, version: string | null, keepsResults = false): Generator<void, CompiledOperation> {
  const statements: CompiledStatement[] = [];
  const columns: Sql[] = [];
  const queryContext = new StatementContext();
  const guard = schemaGuard(version);
  const guardsSource = guard.length > 0 && kind === 'mutation' && canGuard(roots);
  const only = kind === 'query' ? onlyConnection(roots) : undefined;
  const compiled: CompiledRoot[] = [];
  for (const { key, value } of roots) {
    if (value.kind === 'type name') compiled.push({ kind: 'json', key, json: JSON.stringify(value.name) });
    else if (value.kind === 'introspection') compiled.push({ kind: 'introspection', key });
    else if (kind === 'query') {
      compiled.push({ kind: 'column', key, statement: 0, column: guard.length + columns.length, empty: 'null' });
      if (value !== only) columns.push(compileRoot(value, queryContext));
    } else {
      if (value.kind === 'nested write') {
        for (const { step, statement } of compileSteps(value, guard)) {
          statements.push({ ...(yield* renderStatement(statement)), step: { table: step.table, place: step.place } });
          yield;
        }
      }
      const results = compiled.filter((root) => root.kind === 'column').length;
      const frame = { guard, guardsSource, keptAs: keepsResults ? resultSetting(results) : null };
      const { statement, empty } = compileStatement(value, frame);
      yield;
      compiled.push({
        kind: 'column',
        key,
        statement: statements.push(yield* renderStatement(statement)) - 1,
        column: guardColumns(frame).length,
        empty,
      });
    }
    yield;
  }
  const query = only
    ? selectConnection(only, tableRows(only.table), queryContext, compileRow, { ...noFrame, guard })
    : selectAll(guard, columns);
  yield;
  if (query) statements.push(yield* renderStatement(query));
  // Introspection reads no rows, but only the database knows whether the schema is still current.
  else if (roots.some(({ value }) => value.kind === 'introspection'))
    statements.push(...guard.map((each) => render<Parameter>(sql`select ${each}`)));
  return { kind, checksVersion: kind === 'query' || guardsSource, roots: compiled, statements };
}

function selectAll(guard: Guard, columns: readonly Sql[]): Sql | undefined {
  return columns.length > 0 ? sql`select ${selectList({ ...noFrame, guard }, columns)}` : undefined;
}

/** Whether the only statement of a mutation can have the guard in its source. */
function canGuard(roots: Plan['roots']): boolean {
  const only = onlyRoot(roots);
  return only?.kind === 'insert' && canGuardSource(only);
}

/** A query of a single collection needs no select around the collection's own. */
function onlyConnection(roots: Plan['roots']): ConnectionPlan | undefined {
  const only = onlyRoot(roots);
  return only?.kind === 'connection' ? only : undefined;
}

/** The root field that reads or writes data, if it is the only one. */
function onlyRoot(roots: Plan['roots']): RootValue | undefined {
  const [only, ...others] = roots.map(({ value }) => value).filter(({ kind }) => kind !== 'type name' && kind !== 'introspection');
  return others.length === 0 ? only : undefined;
}

/** Renders a statement. A variable used in several places is bound once for each type that it is cast to. */
function renderStatement(statement: Sql): Generator<void, CompiledStatement> {
  return renderInSteps(statement, identityOf);
}

/** Identifies a parameter by the text that it binds: equal for parameters that bind the same text. */
function identityOf(parameter: Parameter): unknown {
  const { value, encoding } = parameter;
  if (value.kind !== 'variable') return parameter;
  switch (encoding.kind) {
    case 'value': {
      const { type, use } = encoding;
      return `${value.index} ${use} ${type.kind === 'scalar' ? (type.maxLength ?? '') : ''} ${type.sqlType}`;
    }
    case 'count':
      return `${value.index} ${encoding.argument} ${encoding.maximum}`;
    default:
      return `${value.index} ${encoding.kind}`;
  }
}

type DataRoot = Exclude<RootValue, { kind: 'type name' | 'introspection' }>;

function compileRoot(value: DataRoot, context: StatementContext): Sql {
  switch (value.kind) {
    case 'connection':
      return compileConnection(value, tableRows(value.table), context, compileRow);
    case 'lookup':
      return compileLookup(value, context);
    case 'routine':
      return resultJson(value.result, callOf(value), context, value.routine.volatile);
    default:
      throw new Error(`A query has no ${value.kind}.`);
  }
}

function compileStatement(value: DataRoot, frame: Frame): { readonly statement: Sql; readonly empty: string } {
  const context = new StatementContext();
  switch (value.kind) {
    case 'insert':
    case 'update':
    case 'delete':
      return compileMutation(value, context, frame);
    case 'nested write':
      return { statement: compileWritten(value, context, frame), empty: 'null' };
    case 'routine':
      return { statement: callOnce(value, context, frame), empty: 'null' };
    default:
      throw new Error(`A mutation has no ${value.kind}.`);
  }
}

function callOnce(value: RoutinePlan, context: StatementContext, frame: Frame): Sql {
  if (value.result.kind === 'rows') return selectCalled(value.result.connection, callOf(value), context, frame);
  return sql`select ${selectList(frame, [compileRoot(value, context)])}`;
}

function compileLookup({ table, key, row }: LookupPlan, context: StatementContext): Sql {
  const scope = directScope(context.aliases.next(), table);
  const conditions = key.map(({ column, parameter }) => equals(column, parameter, scope));
  const json = concatenate(compileRow(row, scope, context));
  // The declared key of a view may match several rows.
  return objectOrNull(json, sql`${tableSource(table)} as ${trusted(scope.alias)}`, sql`${join(conditions, ' and ')} limit 1`);
}

/**
 * A call in named notation (manual: Calling Functions), in which absent arguments take their defaults. A variadic argument must be last.
 */
function callOf({ routine, arguments: given }: RoutinePlan): Sql {
  const inOrder = given.toSorted((one, other) => Number(one.argument.variadic) - Number(other.argument.variadic));
  const named = inOrder.map(
    ({ argument, parameter }) =>
      sql`${argument.variadic ? sql`variadic ` : sql``}${identifier(argument.name)} => ${bind(parameter, argument.type.sqlType)}`,
  );
  return sql`${identifier(routine.schema, routine.name)}(${join(named, ', ')})`;
}
