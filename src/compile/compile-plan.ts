/**
 * Compiles a plan to SQL. A query is one statement with a column for each root field; a mutation is one or several statements for each root
 * field, in order.
 */

import type { Table } from '../model/model.ts';
import { compileSteps, compileWritten } from '../nested-writes/compile/compile-steps.ts';
import type { ConnectionPlan, LookupPlan, Parameter, Plan, RootPlan, RootValue, RoutinePlan } from '../plan/plan.ts';
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
  return plan.kind === 'query' ? compileQuery(plan, guard) : compileMutations(plan, guard, keepsResults);
}

function* compileQuery({ kind, roots }: Plan, guard: Guard): Generator<void, CompiledOperation> {
  const context = newContext();
  const columns: Sql[] = [];
  const compiled: CompiledRoot[] = [];
  const only = onlyRead(roots);
  for (const root of roots) {
    const { key, value } = root;
    compiled.push(
      withoutStatement(root) ?? { kind: 'column', key, first: 0, statement: 0, column: guard.length + columns.length, empty: 'null' },
    );
    if (reads(value) && value !== only) columns.push(compileQueryField(value, context));
    yield;
  }
  const frame = { ...noFrame, guard };
  // A query of a single collection needs no select around the collection's own.
  const query = only
    ? selectConnection({ plan: only, rows: { kind: 'table', relatedTo: null }, context }, frame)
    : select({ columns: [selectList(frame, columns)] });
  yield;
  const statements: CompiledStatement[] = [];
  if (only || columns.length > 0) statements.push(yield* renderStatement(query));
  // Introspection reads no rows, but only the database knows whether the schema is still current.
  else if (guard.length > 0 && compiled.some((root) => root.kind === 'introspection')) statements.push(yield* renderStatement(query));
  return { kind, checksVersion: true, roots: compiled, statements };
}

function* compileMutations({ kind, roots }: Plan, guard: Guard, keepsResults: boolean): Generator<void, CompiledOperation> {
  const guardsRows = guard.length > 0 && canGuard(roots);
  const statements: CompiledStatement[] = [];
  const compiled: CompiledRoot[] = [];
  for (const root of roots) {
    const { key, value } = root;
    const without = withoutStatement(root);
    if (without) compiled.push(without);
    else {
      const results = compiled.filter((each) => each.kind === 'column').length;
      const write = compileWrite(value, { guard, guardsRows, keptAs: keepsResults ? resultSetting(results) : null });
      const first = statements.length;
      yield;
      for (const [index, before] of write.before.entries()) {
        const step = value.kind === 'nested write' ? value.steps[index] : undefined;
        statements.push({ ...(yield* renderStatement(before)), ...(step && { step: { table: step.table, place: step.place } }) });
        yield;
      }
      const statement = statements.push(yield* renderStatement(write.answer)) - 1;
      compiled.push({ kind: 'column', key, first, statement, column: guardColumns(write.frame).length, empty: write.empty });
    }
    yield;
  }
  return { kind, checksVersion: guardsRows, roots: compiled, statements };
}

/** A root field that needs no statement; null if it needs one. */
function withoutStatement({ key, value }: RootPlan): CompiledRoot | null {
  if (value.kind === 'type name') return { kind: 'json', key, json: JSON.stringify(value.name) };
  return value.kind === 'introspection' ? { kind: 'introspection', key } : null;
}

/** Whether the only statement of a mutation can have the guard in its FROM or WHERE. */
function canGuard(roots: Plan['roots']): boolean {
  const only = onlyRoot(roots);
  return only?.kind === 'insert' && canGuardRows(only);
}

/** The connection, if nothing else is read. */
function onlyRead(roots: Plan['roots']): ConnectionPlan | undefined {
  const only = onlyRoot(roots);
  return only?.kind === 'connection' ? only : undefined;
}

/** The root field that reads or writes data, if it is the only one. */
function onlyRoot(roots: Plan['roots']): RootValue | undefined {
  const [only, ...others] = roots.filter((root) => withoutStatement(root) === null);
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
      const { type, use } = encoding;
      return `${value.index} ${use} ${type.kind === 'scalar' ? (type.maxLength ?? '') : ''} ${type.sqlType}`;
    }
    case 'count':
      return `${value.index} ${encoding.argument} ${encoding.maximum}`;
    default:
      return `${value.index} ${encoding.kind}`;
  }
}

function reads(value: RootValue): value is ConnectionPlan | LookupPlan | RoutinePlan {
  return value.kind === 'connection' || value.kind === 'lookup' || value.kind === 'routine';
}

function compileWrite(value: RootValue, frame: Frame): CompiledWrite {
  switch (value.kind) {
    case 'insert':
    case 'update':
    case 'delete':
      return compileMutation(value, newContext(), frame);
    case 'routine':
      return compileCall(value, newContext(), frame);
    case 'nested write':
      return {
        before: compileSteps(value, frame.guard),
        answer: compileWritten(value, newContext(), frame),
        frame,
        empty: 'null',
      };
    default:
      throw new Error(`A mutation has no ${value.kind}.`);
  }
}
