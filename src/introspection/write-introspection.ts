/**
 * Writes the JSON of what is selected of introspection, straight from the types to bytes: a response of tens of megabytes never stands in
 * memory as objects. Pauses between the members of lists.
 */
import { ApiError } from '../errors.ts';
import { pause } from './described-schema.ts';
import type { IntrospectedField, Shape } from './select-introspection.ts';

/** Characters of text that become a piece of bytes. */
const pieceLength = 64 * 1024;

/** Writes the root fields of one request. */
export class IntrospectionWriter {
  #text = '';
  #length = 0;
  #pieces: Buffer[] = [];
  readonly #maxLength: number;

  /** All that is written may have this many characters. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The JSON of a root field's value, in UTF-8. Throws QUERY_TOO_COMPLEX if there is no room for it. */
  *write({ resolve, shape }: IntrospectedField): Generator<void, readonly Buffer[]> {
    yield* this.#value(shape, resolve(undefined));
    const pieces = [...this.#pieces, Buffer.from(this.#text)];
    this.#text = '';
    this.#pieces = [];
    return pieces;
  }

  *#value(shape: Shape, value: unknown): Generator<void, void> {
    if (value === null || value === undefined) this.#add('null');
    else if (shape.kind === 'list') yield* this.#list(shape.member, value as Iterable<unknown>);
    else if (shape.kind === 'object') yield* this.#object(shape.fields, value);
    else this.#add(shape.textOf(value));
  }

  *#list(member: Shape, values: Iterable<unknown>): Generator<void, void> {
    let separator = '';
    this.#add('[');
    for (const value of values) {
      if (value !== pause) {
        this.#add(separator);
        yield* this.#value(member, value);
        separator = ',';
      }
      yield;
    }
    this.#add(']');
  }

  *#object(fields: readonly IntrospectedField[], source: unknown): Generator<void, void> {
    let separator = '';
    this.#add('{');
    for (const { label, resolve, shape } of fields) {
      this.#add(`${separator}${label}`);
      yield* this.#value(shape, resolve(source));
      separator = ',';
    }
    this.#add('}');
  }

  #add(text: string): void {
    this.#text += text;
    this.#length += text.length;
    if (this.#length > this.#maxLength) {
      const most = Math.floor(this.#maxLength / 1024 ** 2);
      throw new ApiError('QUERY_TOO_COMPLEX', `The introspection response is larger than ${most} MB. Select each field only once.`);
    }
    if (this.#text.length < pieceLength) return;
    this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
  }
}
