/**
 * Writes the JSON of an introspection selection straight from types to bytes, so that a response of tens of megabytes never exists as
 * objects. Yields between the members of lists.
 */
import { ApiError } from '../errors/api-error.ts';
import { pause } from './described-schema.ts';
import type { IntrospectedField, Shape } from './select-introspection.ts';

/** The number of characters to collect before encoding them as a piece. */
const pieceLength = 64 * 1024;

/** Writes the root fields of one request. */
export class IntrospectionWriter {
  #text = '';
  #length = 0;
  #pieces: Buffer[] = [];
  readonly #maxLength: number;

  /** `maxLength` limits the total number of characters. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Writes the JSON of a root field's value, in UTF-8. Throws QUERY_TOO_COMPLEX if it exceeds the limit. */
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
