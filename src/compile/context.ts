/** State shared while a statement is compiled: its aliases and its response keys. */
import type { Member, Parameter } from '../plan/plan.ts';
import type { JsonKey, JsonText } from '../sql/json-text.ts';
import { bind, type Sql } from '../sql/sql.ts';
import { Aliases } from './scope.ts';

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
