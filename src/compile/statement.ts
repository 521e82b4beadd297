/**
 * What the parts of a statement share while it is compiled, and what is around its columns: the guard before them, and the setting that stores
 * the result for a later statement of the transaction.
 */

import type { Member, Parameter, RowPlan, TypeNamePlan } from '../plan/plan.ts';
import { type JsonKey, type JsonText, jsonObject } from '../sql/json-text.ts';
import { bind, builtIn, join, literal, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import { type Guard, unguarded } from './schema-guard.ts';
import { Aliases, type Scope } from './scope.ts';

export class StatementContext {
  readonly aliases = new Aliases();
  /** The JSON of a row. Passed in, because rows and connections contain each other. */
  readonly rowJson: (row: RowPlan, scope: Scope) => JsonText;
  readonly #aliasKeys = new Map<string, Sql>();

  constructor(compileRow: (row: RowPlan, scope: Scope, context: StatementContext) => JsonText) {
    this.rowJson = (row, scope) => compileRow(row, scope, this);
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

/** What is around the columns of a statement. */
export interface Frame {
  readonly guard: Guard;
  /** Whether the guard is in the statement's FROM or WHERE, so that it comes before everything that the statement does. */
  readonly guardsSource: boolean;
  /** The setting that holds the result until the transaction ends; null if nothing needs it. */
  readonly keptAs: string | null;
}

export const noFrame: Frame = { guard: unguarded, guardsSource: false, keptAs: null };

/** The frame of a statement before the one with the response: nothing keeps its result. */
export function storing(frame: Frame): Frame {
  return { ...frame, keptAs: null };
}

/** The frame of a statement with the response that another precedes, which alone may have the guard in its FROM or WHERE. */
export function answering(frame: Frame): Frame {
  return { ...frame, guardsSource: false };
}

/** The statements of a root field of a mutation. */
export interface CompiledWrite {
  /** Those before the one that returns the response. */
  readonly before: readonly Sql[];
  readonly answer: Sql;
  /** The frame of that statement. */
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
export function guardColumns({ guard, guardsSource }: Frame): Guard {
  return guardsSource ? unguarded : guard;
}

/** `set_config` returns the value that it sets, which cannot be null. */
function keepResult(column: Sql, setting: string): Sql {
  return builtIn('set_config', literal(setting), sql`coalesce((${column})::text, 'null')`, trusted('true'));
}
