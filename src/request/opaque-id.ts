/**
 * Decodes cursors and nodeIds: base64 of a JSON array. Numbers are kept as they are written, so that no digit is lost.
 */
import { ApiError } from '../errors.ts';
import type { NestedJson } from './input-value.ts';
import { isStorable } from './is-storable.ts';

/** An element as text for PostgreSQL to cast, or the JSON of a list or an object; null is JSON's null. */
export type IdElement = string | NestedJson | null;

/** The elements of a cursor. Throws BAD_USER_INPUT for anything that is not base64 of a JSON array of values that PostgreSQL could hold. */
export function decodeCursor(text: string): readonly IdElement[] {
  return elementsOf(decodeArray(text, 'cursor'));
}

/** The parts of a nodeId. Throws BAD_USER_INPUT for anything that is not base64 of `[schema, table, key…]`. */
export function decodeNodeId(text: string): { readonly schema: string; readonly table: string; readonly elements: readonly IdElement[] } {
  const decoded = decodeArray(text, 'nodeId');
  const [schema, table, ...key] = decoded.values;
  if (typeof schema !== 'string' || typeof table !== 'string' || key.length === 0) throw malformed('nodeId');
  return { schema, table, elements: elementsOf(decoded).slice(2) };
}

/** The tokens of JSON, apart from white space. */
const jsonTokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s,:[\]{}]+/g;

const utf8 = new TextDecoder('utf-8', { fatal: true });

interface DecodedArray {
  readonly values: readonly unknown[];
  /** The JSON that they were read from. */
  readonly text: string;
}

function decodeArray(encoded: string, what: string): DecodedArray {
  let text: string;
  let values: unknown;
  try {
    text = utf8.decode(Buffer.from(encoded, 'base64'));
    values = JSON.parse(text);
  } catch (cause) {
    throw malformed(what, cause);
  }
  if (!Array.isArray(values)) throw malformed(what);
  // No row holds such a text, so no response does. It could only be taken for something else.
  if (values.some((value) => typeof value === 'string' && !isStorable(value))) throw malformed(what);
  return { values, text };
}

function elementsOf({ values, text }: DecodedArray): readonly IdElement[] {
  let texts: readonly string[] | undefined;
  return values.map((value, index) => {
    if (value === null || typeof value === 'string') return value;
    if (typeof value === 'boolean') return String(value);
    texts ??= elementTexts(text);
    const json = texts[index]!;
    return typeof value === 'number' ? json : { json };
  });
}

/** The text of each element of a JSON array. */
function elementTexts(json: string): readonly string[] {
  const elements = [''];
  let depth = 0;
  for (const token of json.match(jsonTokens) ?? []) {
    if (token === ']' || token === '}') depth -= 1;
    if (token === ',' && depth === 1) elements.push('');
    else if (depth > 0) elements[elements.length - 1] += token;
    if (token === '[' || token === '{') depth += 1;
  }
  return elements;
}

/** What is not a cursor or nodeId. */
export class MalformedIdError extends ApiError {
  readonly #what: string;

  constructor(what: string, place: string | null, cause: unknown) {
    super('BAD_USER_INPUT', `Invalid ${what}${place === null ? '' : ` in ${place}`}. Pass a value that an earlier response returned.`, {
      cause,
    });
    this.#what = what;
  }

  /** The error with the place where it was found: `the argument "after"`. */
  in(place: string): MalformedIdError {
    return new MalformedIdError(this.#what, place, this.cause);
  }
}

function malformed(what: string, cause?: unknown): ApiError {
  return new MalformedIdError(what, null, cause);
}
