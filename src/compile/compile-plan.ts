/**
 * Compiles a plan to SQL. A query is one statement with a column for each root field; a mutation is one or several statements for each root
 * field, in order.
 */

import { sharedPath } from '../errors/input-path.ts';
import type { Table } from '../model/model.ts';
import { compileNestedWrite } from '../nested-writes/compile/compile-steps.ts';
import type { Parameter } from '../plan/parameter.ts';
import type { MutationRoot, Plan, QueryRoot, RootPlan, RootValue, TypeNamePlan } from '../plan/plan.ts';
import { select } from '../sql/clauses.ts';
import { renderInSteps, type Sql } from '../sql/sql.ts';
import { compileQueryField, newContext } from './compile-row.ts';
import { selectConnection } from './page/compile-connection.ts';
import {
  type CompiledWrite,
  type Frame,
  type Guard,
  guardColumns,
  noFrame,
  resultSetting,
  type SchemaVersion,
  schemaGuard,
  selectList,
} from './statement.ts';
import { canGuardRows, compileCall, compileMutation } from './write/compile-mutation.ts';

/** An operation ready to run with any parameter values. */
export interface CompiledOperation {
  readonly kind: Plan['kind'];
  /** Whether a statement checks the schema version before anything else happens, so that the session statement need not. */
  readonly checksVersion: boolean;
  /** In response order. */
  readonly roots: readonly CompiledRoot[];
  readonly statements: readonly CompiledStatement[];
  /** Of a stream: the column with the cursor of the last row, as JSON. */
  readonly cursorColumn?: number | undefined;
}

export interface CompiledStatement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** For a step of a nested write: the table that it writes, and the path of its inputs in the arguments of the root field. */
  readonly step?: { readonly table: Table; readonly path: string };
}

/** Where the value of a root field comes from. */
export type CompiledRoot =
  | { readonly kind: 'json'; readonly key: string; readonly json: string }
  | { readonly kind: 'introspection'; readonly key: string }
  | {
      readonly kind: 'column';
      readonly key: string;
      /** The first of its statements, which writes, and the last, which returns the value. */
      readonly first: number;
      readonly statement: number;
      readonly column: number;
      /** The JSON if the statement returns no row. */
      readonly empty: string;
    };

/**
 * Compiles a plan, yielding between root fields and before rendering a text. The text depends only on the plan, never on bound values, and
 * on whether there is a schema version to check. `keepsResults` makes each statement of a mutation store its result in a setting
 * (`statement.ts`).
 */
export function compilePlan(plan: Plan, version: SchemaVersion | null, keepsResults = false): Generator<void, CompiledOperation> {
  const guard = schemaGuard(version);
  return plan.kind === 'query' ? compileQuery(plan.roots, guard) : compileMutations(plan.roots, guard, keepsResults);
}

function* compileQuery(roots: readonly RootPlan<QueryRoot>[], guard: Guard): Generator<void, CompiledOperation> {
  const context = newContext();
  const frame = { ...noFrame, guard };
  const compiled: CompiledRoot[] = [];
  const columns: Sql[] = [];
  // A query of a single collection needs no select around the collection's own.
  const read = onlyOf(roots);
  const only = read?.kind === 'connection' ? read : null;
  for (const { key, value } of roots) {
    if (value.kind === 'type name') compiled.push(typeNameRoot(key, value));
    else if (value.kind === 'introspection') compiled.push({ kind: 'introspection', key });
    else {
      compiled.push({ kind: 'column', key, first: 0, statement: 0, column: guard.length + columns.length, empty: 'null' });
      if (!only) columns.push(compileQueryField(value, context));
    }
    yield;
  }
  const query = only
    ? selectConnection({ plan: only, rows: { kind: 'table', relatedTo: null }, context }, frame)
    : select({ columns: [selectList(frame, columns)] });
  yield;
  // Introspection reads no rows, but only the database knows whether the schema is still current.
  const checksOnly = guard.length > 0 && compiled.some(({ kind }) => kind === 'introspection');
  const statements = only || columns.length > 0 || checksOnly ? [yield* renderStatement(query)] : [];
  const cursorColumn = only?.isStream ? guard.length + 1 : undefined;
  return { kind: 'query', checksVersion: guard.length > 0, roots: compiled, statements, cursorColumn };
}

function* compileMutations(
  roots: readonly RootPlan<MutationRoot>[],
  guard: Guard,
  keepsResults: boolean,
): Generator<void, CompiledOperation> {
  const only = onlyOf(roots);
  const guardsRows = guard.length > 0 && only?.kind === 'insert' && canGuardRows(only);
  const statements: CompiledStatement[] = [];
  const compiled: CompiledRoot[] = [];
  for (const { key, value } of roots) {
    if (value.kind === 'type name') compiled.push(typeNameRoot(key, value));
    else {
      const results = compiled.filter((each) => each.kind === 'column').length;
      const write = compileWrite(value, { guard, guardsRows, keptAs: keepsResults ? resultSetting(results) : null });
      const first = statements.length;
      yield;
      for (const [index, before] of write.before.entries()) {
        const step = value.kind === 'nested write' ? value.steps[index] : undefined;
        statements.push({
          ...(yield* renderStatement(before)),
          ...(step && { step: { table: step.table, path: sharedPath(step.paths) } }),
        });
        yield;
      }
      const statement = statements.push(yield* renderStatement(write.answer)) - 1;
      compiled.push({ kind: 'column', key, first, statement, column: guardColumns(write.frame).length, empty: write.empty });
    }
    yield;
  }
  return { kind: 'mutation', checksVersion: guardsRows, roots: compiled, statements };
}

function typeNameRoot(key: string, { name }: TypeNamePlan): CompiledRoot {
  return { kind: 'json', key, json: JSON.stringify(name) };
}

/** The root field that reads or writes data, if it is the only one. */
function onlyOf<Value extends RootValue>(roots: readonly RootPlan<Value>[]): Value | undefined {
  const [only, ...others] = roots.filter(({ value }) => value.kind !== 'type name' && value.kind !== 'introspection');
  return others.length === 0 ? only?.value : undefined;
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
      const { type, use, as = '' } = encoding;
      return `${value.index} ${use} ${as} ${type.kind === 'scalar' ? (type.maxLength ?? '') : ''} ${type.sqlType}`;
    }
    case 'vector':
      return `${value.index} vector ${encoding.form} ${encoding.dimensions} ${encoding.name}`;
    case 'count':
      return `${value.index} ${encoding.argument} ${encoding.maximum}`;
    case 'search':
      return `${value.index} ${encoding.kind} ${encoding.asPrefixes}`;
    case 'mark':
      return `${value.index} ${encoding.kind} ${encoding.argument}`;
    default:
      return `${value.index} ${encoding.kind}`;
  }
}

function compileWrite(value: Exclude<MutationRoot, TypeNamePlan>, frame: Frame): CompiledWrite {
  switch (value.kind) {
    case 'insert':
    case 'update':
    case 'delete':
      return compileMutation(value, newContext(), frame);
    case 'routine':
      return compileCall(value, newContext(), frame);
    case 'nested write':
      return compileNestedWrite(value, newContext(), frame);
  }
}
