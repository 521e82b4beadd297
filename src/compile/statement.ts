/**
 * What the parts of a statement share while it is compiled, and what is around its columns: the guard before them, and the setting that stores
 * the result for a later statement of the transaction.
 */

import type { Member, Parameter } from '../plan/plan.ts';
import type { JsonKey, JsonText } from '../sql/json-text.ts';
import { bind, join, literal, newLine, type Sql, sql } from '../sql/sql.ts';
import { type Guard, unguarded } from './schema-guard.ts';
import { Aliases } from './scope.ts';

export interface Frame {
  readonly guard: Guard;
  /** Whether the guard is in the statement's source of rows, so that it comes before everything that the statement does. */
  readonly guardsSource: boolean;
  /** The setting that holds the result until the transaction ends; null if nothing needs it. */
  readonly keptAs: string | null;
}

export const noFrame: Frame = { guard: unguarded, guardsSource: false, keptAs: null };

/** The statement that writes, and the one behind it that reads the response. */
export interface SqlOfTwo {
  readonly write: Sql;
  readonly answer: Sql;
}

export type FramesOfTwo = Readonly<Record<keyof SqlOfTwo, Frame>>;

/** Only the first statement may have the guard in its source, and only the second has a result. */
export function framesOfTwo(frame: Frame): FramesOfTwo {
  return { write: { ...frame, keptAs: null }, answer: { ...frame, guardsSource: false } };
}

/** The setting in which a statement stores its result, by its number. `rowgraph.keep_response` reads it. */
export function resultSetting(statement: number): string {
  return `rowgraph.result_${statement}`;
}

/** The columns, after the guard if there is one, so that the guard is evaluated first. */
export function selectList(frame: Frame, columns: readonly Sql[]): Sql {
  const { keptAs } = frame;
  return join(
    [...guardColumns(frame), ...(keptAs === null ? columns : columns.map((column) => keepResult(column, keptAs)))],
    sql`,${newLine}`,
  );
}

/** The columns before those of the result. */
export function guardColumns({ guard, guardsSource }: Frame): Guard {
  return guardsSource ? unguarded : guard;
}

/** `set_config` returns the value that it sets, which cannot be null. */
function keepResult(column: Sql, setting: string): Sql {
  return sql`pg_catalog.set_config(${literal(setting)}, coalesce((${column})::text, 'null'), true)`;
}

/** State shared while a statement is compiled: its aliases and its response keys. */
export class StatementContext {
  readonly aliases = new Aliases();
  readonly #aliasKeys = new Map<string, Sql>();

  /**
   * The key of a member. A field's own name comes from the model and becomes part of the text; an alias comes from the client and is bound.
   */
  key({ key, name }: Member<unknown>): JsonKey {
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

/** JSON text of `__typename`. */
export function typeNameJson(name: string): JsonText {
  return [JSON.stringify(name)];
}
