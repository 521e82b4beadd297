/**
 * Counts the values in an operation's arguments: scalars, lists and their elements, objects and their fields. Planning visits each of them,
 * and those of a variable once per use. What is used again, a variable or an argument in a fragment, is counted once and multiplied, so
 * counting takes no longer the more often it is used. A list of scalars in a variable is one value, because it is bound as one.
 */
import { type Limits, overLimit } from '../budget/limits.ts';
import type { InputList, InputObject, InputValue } from './input-value.ts';

/** Adds up the values of arguments, up to the limit `inputValues`. */
export class ValueCounter {
  total = 0;
  readonly #limits: Limits;
  /** The number of values in each variable, and in each argument that was counted; null for variables that were not. */
  readonly #known: Map<InputValue, number | null>;

  constructor(variables: ReadonlyMap<string, InputValue>, limits: Limits) {
    this.#limits = limits;
    this.#known = new Map([...variables.values()].map((value) => [value, null]));
  }

  /** Adds the values of an argument. Throws TOO_MANY_VALUES as soon as there are too many. */
  add(value: InputValue): void {
    if (isComposite(value) && !this.#known.has(value)) this.#known.set(value, null);
    this.total += this.#count(value);
    if (this.total > this.#limits.inputValues) throw overLimit(this.#limits, 'inputValues');
  }

  #count(value: InputValue): number {
    if (!isComposite(value)) return 1;
    const known = this.#known.get(value);
    if (typeof known === 'number') return known;
    let count = 1;
    if (value.kind === 'list') for (const item of value.items) count += this.#count(item);
    else for (const entry of value.entries) count += this.#count(entry.value);
    if (known === null) this.#known.set(value, count);
    return count;
  }
}

function isComposite(value: InputValue): value is InputList | InputObject {
  return value?.kind === 'list' || value?.kind === 'object';
}
