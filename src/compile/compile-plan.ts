/**
 * Compiles a plan to SQL. A query is one statement with a column for each root field; a mutation is one or several statements for each root
 * field, in order.
 */

import type { Table } from '../model/model.ts';
import { compileSteps, compileWritten } from '../nested-writes/compile/compile-steps.ts';
import type { NestedStep } from '../plan/nested-write-plan.ts';
import type { ConnectionPlan, Parameter, Plan, RootValue } from '../plan/plan.ts';
import { render, renderInSteps, type Sql, sql } from '../sql/sql.ts';
import { compileQueryField } from './compile-query.ts';
import { compileRow, tableRows } from './compile-row.ts';
import { selectConnection } from './page/compile-connection.ts';
import { type Guard, type SchemaVersion, schemaGuard } from './schema-guard.ts';
import {
  type Frame,
  type FramesOfTwo,
  framesOfTwo,
  guardColumns,
  noFrame,
  resultSetting,
  type SqlOfTwo,
  StatementContext,
  selectList,
} from './statement.ts';
import { compileCall, compileCallInTwo } from './write/compile-call.ts';
import { canGuardSource, compileInTwo, compileMutation } from './write/compile-mutation.ts';

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
export function* compilePlan(
  { kind, roots }: Plan,
  version: SchemaVersion | null,
  keepsResults = false,
): Generator<void, CompiledOperation> {
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
      compiled.push({ kind: 'column', key, first: 0, statement: 0, column: guard.length + columns.length, empty: 'null' });
      if (value !== only) columns.push(compileQueryField(readOf(value), queryContext));
    } else {
      const results = compiled.filter((root) => root.kind === 'column').length;
      const { before, statement, frame, empty } = compileWrite(value, {
        guard,
        guardsSource,
        keptAs: keepsResults ? resultSetting(results) : null,
      });
      const first = statements.length;
      yield;
      for (const { statement: write, step } of before) {
        statements.push({ ...(yield* renderStatement(write)), ...(step && { step: { table: step.table, place: step.place } }) });
        yield;
      }
      compiled.push({
        kind: 'column',
        key,
        first,
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

function readOf(value: RootValue): Parameters<typeof compileQueryField>[0] {
  if (value.kind === 'connection' || value.kind === 'lookup' || value.kind === 'routine') return value;
  throw new Error(`A query has no ${value.kind}.`);
}

/** The statements of a root field of a mutation. */
interface CompiledWrite {
  /** The statements before the one that returns the response. */
  readonly before: readonly { readonly statement: Sql; readonly step?: NestedStep }[];
  readonly statement: Sql;
  /** The frame of that statement. */
  readonly frame: Frame;
  /** The JSON if it returns no row. */
  readonly empty: string;
}

function compileWrite(value: RootValue, frame: Frame): CompiledWrite {
  const inOne = (statement: Sql, empty = 'null'): CompiledWrite => ({ before: [], statement, frame, empty });
  const inTwo = (compile: (frames: FramesOfTwo) => SqlOfTwo): CompiledWrite => {
    const frames = framesOfTwo(frame);
    const { write, answer } = compile(frames);
    return { before: [{ statement: write }], statement: answer, frame: frames.answer, empty: 'null' };
  };
  switch (value.kind) {
    case 'insert':
    case 'update':
    case 'delete': {
      if (value.readsAfter) return inTwo((frames) => compileInTwo(value, frames));
      const { statement, empty } = compileMutation(value, new StatementContext(), frame);
      return inOne(statement, empty);
    }
    case 'routine':
      return value.readsAfter ? inTwo((frames) => compileCallInTwo(value, frames)) : inOne(compileCall(value, frame));
    case 'nested write': {
      const answer = compileWritten(value, new StatementContext(), frame);
      return { ...inOne(answer), before: compileSteps(value, frame.guard) };
    }
    default:
      throw new Error(`A mutation has no ${value.kind}.`);
  }
}
