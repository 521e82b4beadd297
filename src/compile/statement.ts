/**
 * What the parts of a statement share while it is compiled, and what is around its columns: the guard before them, and the setting that
 * stores the result for a later statement of the transaction.
 */

import type { Parameter } from '../plan/parameter.ts';
import type { Member, RowPlan, TypeNamePlan } from '../plan/plan.ts';
import { coalesce } from '../sql/clauses.ts';
import { type JsonKey, type JsonText, jsonObject } from '../sql/json-text.ts';
import { bind, builtIn, join, literal, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import { Aliases, type Scope, type ValueWriter } from './scope.ts';

export class StatementContext {
  readonly aliases = new Aliases();
  /** The JSON of a row. Passed in, because rows and connections contain each other. */
  readonly rowJson: (row: RowPlan, scope: Scope) => JsonText;
  /** The JSON of a value of a row. */
  readonly valueJson: ValueWriter;
  readonly #aliasKeys = new Map<string, Sql>();

  constructor(
    compileRow: (row: RowPlan, scope: Scope, context: StatementContext) => JsonText,
    compileValue: (...value: [...Parameters<ValueWriter>, StatementContext]) => JsonText,
  ) {
    this.rowJson = (row, scope) => compileRow(row, scope, this);
    this.valueJson = (value, table, row) => compileValue(value, table, row, this);
  }

  /** An object with these members; `json` has the values of all but `__typename`. */
  object<Value>(members: readonly Member<Value | TypeNamePlan>[], json: (value: Value) => JsonText): JsonText {
    return jsonObject(
      members.map((member) => ({
        key: this.#key(member),
        value: isTypeName(member.value) ? [JSON.stringify(member.value.name)] : json(member.value),
      })),
    );
  }

  /**
   * The key of a member. A field's own name comes from the model and becomes part of the text; an alias comes from the client and is bound.
   */
  #key({ key, name }: Member<unknown>): JsonKey {
    return key === name ? key : (before) => this.#aliasKey(`${before}${JSON.stringify(key)}:`);
  }

  #aliasKey(text: string): Sql {
    let bound = this.#aliasKeys.get(text);
    if (!bound) {
      const parameter: Parameter = { value: { kind: 'constant', value: text }, encoding: { kind: 'text' } };
      bound = bind(parameter, 'text');
      this.#aliasKeys.set(text, bound);
    }
    return bound;
  }
}

function isTypeName(value: unknown): value is TypeNamePlan {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'type name';
}

/**
 * The version for which a snapshot of the schema holds. It moves on when the schema has changed in ways that do not matter to the snapshot:
 * what was compiled for it then remains valid.
 */
export interface SchemaVersion {
  readonly current: string;
}

/** The expression, whose value is ignored; empty if the database keeps no version. */
export type Guard = readonly [] | readonly [Sql];

const unguarded: Guard = [];

/**
 * Makes a statement fail if the schema is not the one that it was compiled for. The current version is bound when the statement runs.
 *
 *     select (select case when … then '' else rowgraph.raise_stale_schema() end from rowgraph.schema_change), …
 *
 * The check in the session statement is not enough: a later statement may wait for a lock that DDL under way holds, and continue after its
 * commit on tables that have changed. PostgreSQL locks all tables of a statement before it takes the snapshot from which the guard reads
 * the version, so nothing can change in between. In a query, and in the insert of one row, the guard comes before everything else and
 * replaces the session statement's check, at the same cost. `extension/schema-version-script.ts` creates the table and the function.
 */
export function schemaGuard(version: SchemaVersion | null): Guard {
  if (version === null) return unguarded;
  const parameter: Parameter = { value: { kind: 'version', version }, encoding: { kind: 'text' } };
  const isPresent = sql`${coalesce(builtIn('sum', trusted('weight')), trusted('0'))} = ${bind(parameter, 'numeric')}`;
  return [sql`(select case when ${isPresent} then '' else rowgraph.raise_stale_schema() end from rowgraph.schema_change)`];
}

/** What is around the columns of a statement. */
export interface Frame {
  readonly guard: Guard;
  /** Whether the guard is in the statement's FROM or WHERE, so that it comes before everything that the statement does. */
  readonly guardsRows: boolean;
  /** The setting that holds the result until the transaction ends; null if nothing needs it. */
  readonly keptAs: string | null;
}

export const noFrame: Frame = { guard: unguarded, guardsRows: false, keptAs: null };

/** The frame of a statement before the one with the response: nothing keeps its result. */
export function storing(frame: Frame): Frame {
  return { ...frame, keptAs: null };
}

/** The frame of a statement with the response that another precedes, which alone may have the guard in its FROM or WHERE. */
export function answering(frame: Frame): Frame {
  return { ...frame, guardsRows: false };
}

export interface CompiledWrite {
  /** Those before the one that returns the response. */
  readonly before: readonly Sql[];
  readonly answer: Sql;
  readonly frame: Frame;
  /** The JSON if it returns no row. */
  readonly empty: string;
}

/** The setting in which a statement stores its result, by its number. `rowgraph.keep_response` reads it. */
export function resultSetting(statement: number): string {
  return `rowgraph.result_${statement}`;
}

/** The columns, after the guard if there is one, so that the guard is evaluated first. */
export function selectList(frame: Frame, columns: readonly Sql[]): Sql {
  const { keptAs } = frame;
  const results = keptAs === null ? columns : columns.map((column) => keepResult(column, keptAs));
  return join([...guardColumns(frame), ...results], sql`,${newLine}`);
}

/** The columns before those of the result. */
export function guardColumns({ guard, guardsRows }: Frame): Guard {
  return guardsRows ? unguarded : guard;
}

/** `set_config` returns the value that it sets, which cannot be null. */
function keepResult(column: Sql, setting: string): Sql {
  return builtIn('set_config', literal(setting), coalesce(sql`(${column})::text`, literal('null')), trusted('true'));
}
