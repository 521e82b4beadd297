/** Decodes cursors and nodeIds: base64 of a JSON array. Numbers stay as written, so that they keep all digits. */
import { ApiError } from '../../errors/api-error.ts';
import type { NestedJson } from '../operation.ts';

/** An element: text for PostgreSQL to cast, or the JSON of a list or object; null for JSON null. */
export type IdElement = string | NestedJson | null;

/** Decodes a cursor. Throws BAD_USER_INPUT unless it is base64 of a JSON array of values that PostgreSQL can store. */
export function decodeCursor(encoded: string): readonly IdElement[] {
  return decodeArray(encoded, 'cursor').map(elementOf);
}

/** Decodes a nodeId. Throws BAD_USER_INPUT unless it is base64 of `[schema, table, key…]`. */
export function decodeNodeId(encoded: string): {
  readonly schema: string;
  readonly table: string;
  readonly elements: readonly IdElement[];
} {
  const [schema, table, ...key] = decodeArray(encoded, 'nodeId');
  if (typeof schema !== 'string' || typeof table !== 'string' || key.length === 0) throw new MalformedIdError('nodeId');
  return { schema, table, elements: key.map(elementOf) };
}

/** More values than any order or key has, those in arrays included. A request has many nodeIds, but few cursors. */
const mostValues = { cursor: 10_000, nodeId: 1_000 };
/** An array of PostgreSQL has at most six dimensions; composite values can nest deeper. */
const deepestNesting = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** What TypeScript's library does not declare yet. */
const json = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
};

/** A number is `{rawJSON: text}`. */
function decodeArray(encoded: string, what: keyof typeof mostValues): readonly unknown[] {
  let values: unknown;
  try {
    const text = utf8.decode(Buffer.from(encoded, 'base64'));
    // `JSON.parse` takes long for many values, and longer if they are nested deep. A long text is no problem.
    if (!isSmall(text, mostValues[what])) throw new MalformedIdError(what);
    values = json.parse(text, (_key, value, { source }) => (typeof value === 'number' ? json.rawJSON(source) : value));
  } catch (cause) {
    throw cause instanceof MalformedIdError ? cause : new MalformedIdError(what, null, cause);
  }
  // PostgreSQL cannot store such a text, so no response contained it, and it must not be altered into one that exists.
  if (!Array.isArray(values) || values.some((value) => typeof value === 'string' && !isStorable(value))) throw new MalformedIdError(what);
  return values;
}

/** Whether a JSON text has at most so many values, and none that is nested deep. */
function isSmall(text: string, most: number): boolean {
  let values = 1;
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') isInString = !isInString;
    else if (isInString) index += character === '\\' ? 1 : 0;
    else if (character === ',') values += 1;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (values > most || depth > deepestNesting) return false;
  }
  return true;
}

function elementOf(value: unknown): IdElement {
  if (value === null || typeof value === 'string') return value;
  const text = JSON.stringify(value);
  return Array.isArray(value) || text.startsWith('{') ? { json: text } : text;
}

/** Whether PostgreSQL can store the text: it must not contain NUL, or half of a surrogate pair, which would silently become U+FFFD. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

export class MalformedIdError extends ApiError {
  readonly #what: string;

  constructor(what: string, where: string | null = null, cause?: unknown) {
    super('BAD_USER_INPUT', `Invalid ${what}${where === null ? '' : ` in ${where}`}. Pass a value that an earlier response returned.`, {
      cause,
    });
    this.#what = what;
  }

  /** The same error with where the value is: `the argument "after"`. */
  in(where: string): MalformedIdError {
    return new MalformedIdError(this.#what, where, this.cause);
  }
}
