/**
 * Writes the JSON of what is selected of introspection, straight from the types to bytes: a response of tens of megabytes never stands in
 * memory as objects. Pauses between the members of lists.
 */
import { ApiError } from '../errors.ts';
import { pause } from './described-schema.ts';
import type { IntrospectedField, Shape } from './select-introspection.ts';

/** Characters of text that become a piece of bytes. */
const pieceLength = 64 * 1024;

/** The JSON of a root field's value, in UTF-8. Throws QUERY_TOO_COMPLEX if it exceeds this many characters. */
export function* writeIntrospection({ resolve, shape }: IntrospectedField, maxLength: number): Generator<void, readonly Buffer[]> {
  const writer = new Writer(maxLength);
  yield* writer.value(shape, resolve(undefined));
  return writer.end();
}

class Writer {
  #text = '';
  #length = 0;
  readonly #pieces: Buffer[] = [];
  readonly #maxLength: number;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  *value(shape: Shape, value: unknown): Generator<void, void> {
    if (value === null || value === undefined) this.#add('null');
    else if (shape.kind === 'list') yield* this.#list(shape.member, value as Iterable<unknown>);
    else if (shape.kind === 'object') yield* this.#object(shape.fields, value);
    else this.#add(shape.textOf(value));
  }

  end(): readonly Buffer[] {
    this.#pieces.push(Buffer.from(this.#text));
    return this.#pieces;
  }

  *#list(member: Shape, values: Iterable<unknown>): Generator<void, void> {
    let separator = '';
    this.#add('[');
    for (const value of values) {
      if (value !== pause) {
        this.#add(separator);
        yield* this.value(member, value);
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
      yield* this.value(shape, resolve(source));
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
