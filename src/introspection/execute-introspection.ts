/**
 * Answers `__schema` and `__type` from the introspectable part of a model. Writes their JSON straight from types to bytes, so that a
 * response of tens of megabytes never exists as objects.
 */
import { GraphQLError } from 'graphql';
import { ApiError } from '../errors/api-error.ts';
import type { Model } from '../model/model.ts';
import { buildSchema } from '../schema/build-schema.ts';
import { type IntrospectedField, type IntrospectingOperation, IntrospectionSelector, pause, type Shape } from './select-introspection.ts';

/** The JSON of each introspection root field, by response key, as pieces of UTF-8. */
export type IntrospectionJson = ReadonlyMap<string, readonly Buffer[]>;

/**
 * Executes the operation's introspection root fields, whose response keys are `keys`. The model and types are built once for all of them
 * and then dropped: for a large schema they take far more memory than the response, which is cached. Throws QUERY_TOO_COMPLEX if the
 * response is too long.
 */
export function* executeIntrospection(
  buildModel: () => Generator<void, Model>,
  operation: IntrospectingOperation,
  keys: readonly string[],
): Generator<void, IntrospectionJson> {
  const model = yield* buildModel();
  const selector = new IntrospectionSelector(yield* buildSchema(model), operation);
  const writer = new IntrospectionWriter(yield* longestResponse(model));
  const json = new Map<string, readonly Buffer[]>();
  try {
    for (const key of keys) {
      const selected = selector.select(key);
      yield;
      json.set(key, yield* writer.write(selected));
    }
    return json;
  } catch (error) {
    throw error instanceof GraphQLError ? new ApiError('BAD_USER_INPUT', error.message, { cause: error }) : error;
  }
}

/**
 * The maximum length of a response, in characters: several times that of a complete description of the schema, because a document can
 * select it repeatedly under aliases. A table takes about 20 KB, and each column 2 KB.
 */
function* longestResponse({ tables, routines, enums }: Model): Generator<void, number> {
  let columns = 0;
  for (const table of tables) {
    columns += table.columns.length;
    yield;
  }
  return 1024 * (1024 + 64 * (tables.length + routines.length + enums.length) + 8 * columns);
}

/** The number of characters to collect before encoding them as a piece. */
const pieceLength = 64 * 1024;

/** Writes the root fields of one request, pausing between the members of lists. */
class IntrospectionWriter {
  #text = '';
  #length = 0;
  #pieces: Buffer[] = [];
  readonly #maxLength: number;

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
    else if (shape.kind === 'leaf') this.#add(shape.textOf(value));
    else if (shape.kind === 'list') yield* this.#list(shape.member, value as Iterable<unknown>);
    else yield* this.#object(shape.fields, value);
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

  *#object(fields: readonly IntrospectedField[], object: unknown): Generator<void, void> {
    let separator = '';
    this.#add('{');
    for (const { label, resolve, shape } of fields) {
      this.#add(`${separator}${label}`);
      yield* this.#value(shape, resolve(object));
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
