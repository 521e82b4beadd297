import { ApiError } from '../../errors/api-error.ts';
import type { NestedJson } from '../operation.ts';

/** Decodes cursors and nodeIds: base64 of a JSON array. Numbers stay as written, so that they keep all digits. */

/** An element: text for PostgreSQL to cast, or the JSON of a list or object; null for JSON null. */
export type IdElement = string | NestedJson | null;

/** Decodes a cursor. Throws BAD_USER_INPUT unless it is base64 of a JSON array of values that PostgreSQL can store. */
export function decodeCursor(encoded: string): readonly IdElement[] {
  const bytes = Buffer.from(encoded, 'base64');
  const ascii = bytes.toString('latin1');
  return ascii.length < longestIntegers && integers.test(ascii) ? ascii.slice(1, -1).split(', ') : elementsOf(decodeArray(bytes, 'cursor'));
}

/** Decodes a nodeId. Throws BAD_USER_INPUT unless it is base64 of `[schema, table, key…]`. */
export function decodeNodeId(encoded: string): {
  readonly schema: string;
  readonly table: string;
  readonly elements: readonly IdElement[];
} {
  const decoded = decodeArray(Buffer.from(encoded, 'base64'), 'nodeId');
  const [schema, table, ...key] = decoded.values;
  if (typeof schema !== 'string' || typeof table !== 'string' || key.length === 0) throw malformed('nodeId');
  return { schema, table, elements: elementsOf(decoded).slice(2) };
}

/** What most cursors consist of, written as rowgraph and JavaScript write it. */
const integers = /^\[-?(?:0|[1-9]\d*)(?:, -?(?:0|[1-9]\d*))*\]$/;

/** In bytes: longer cursors are decoded like any other, which counts their values. */
const longestIntegers = 1024;

/** More values than any order or key has, those in arrays included. A request has many nodeIds, but few cursors. */
const mostValues = { cursor: 10_000, nodeId: 1_000 };
/** An array of PostgreSQL has at most six dimensions; composite values can nest deeper. */
const deepestNesting = 100;

/** Tokens of JSON, without white space. */
const jsonTokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s,:[\]{}]+/g;

const utf8 = new TextDecoder('utf-8', { fatal: true });

interface DecodedArray {
  readonly values: readonly unknown[];
  /** The JSON text of the array. */
  readonly text: string;
}

function decodeArray(bytes: Buffer, what: keyof typeof mostValues): DecodedArray {
  // `JSON.parse` takes long for many values, and longer if they are nested deep. A long text is no problem.
  if (!isSmall(bytes, mostValues[what])) throw malformed(what);
  let text: string;
  let values: unknown;
  try {
    text = utf8.decode(bytes);
    values = JSON.parse(text);
  } catch (cause) {
    throw malformed(what, cause);
  }
  if (!Array.isArray(values)) throw malformed(what);
  // PostgreSQL cannot store such a text, so no response contained it, and it must not be altered into one that exists.
  if (values.some((value) => typeof value === 'string' && !isStorable(value))) throw malformed(what);
  return { values, text };
}

const code = { quote: 0x22, comma: 0x2c, backslash: 0x5c, openList: 0x5b, closeList: 0x5d, openObject: 0x7b, closeObject: 0x7d };

/** Whether a JSON text has at most so many values, and none that is nested deep. */
function isSmall(bytes: Buffer, most: number): boolean {
  let values = 1;
  let depth = 0;
  for (let place = 0; place < bytes.length; place++) {
    const byte = bytes[place];
    if (byte === code.quote) place = endOfString(bytes, place);
    else if (byte === code.comma) values += 1;
    else if (byte === code.openList || byte === code.openObject) depth += 1;
    else if (byte === code.closeList || byte === code.closeObject) depth -= 1;
    if (values > most || depth > deepestNesting) return false;
  }
  return true;
}

/** The position of the quote that ends the string which begins at `start`; the end of the text if there is none. */
function endOfString(bytes: Buffer, start: number): number {
  let end = start;
  let isEscaped: boolean;
  do {
    end = bytes.indexOf(code.quote, end + 1);
    if (end === -1) return bytes.length;
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === code.backslash) backslashes += 1;
    isEscaped = backslashes % 2 === 1;
  } while (isEscaped);
  return end;
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

/** The elements of a JSON array as they are written, without white space. */
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

export class MalformedIdError extends ApiError {
  readonly #what: string;

  constructor(what: string, place: string | null, cause?: unknown) {
    super('BAD_USER_INPUT', `Invalid ${what}${place === null ? '' : ` in ${place}`}. Pass a value that an earlier response returned.`, {
      cause,
    });
    this.#what = what;
  }

  /** The same error with the place of the value: `the argument "after"`. */
  in(place: string): MalformedIdError {
    return new MalformedIdError(this.#what, place, this.cause);
  }
}

function malformed(what: string, cause?: unknown): ApiError {
  return new MalformedIdError(what, null, cause);
}

/** Whether PostgreSQL can store the text: it must not contain NUL, or half of a surrogate pair, which would silently become U+FFFD. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
