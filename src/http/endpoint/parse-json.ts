/**
 * Parses JSON texts of any size, with the same result as `JSON.parse`. In: a text; out: the value, for short texts at once and for long
 * ones in slices. `JSON.parse` takes 20 ms for a body of 1 MB if its objects have the same shape, and 200 ms if they do not or lists are
 * nested as deeply as possible. So it is applied only to pieces of a long text: objects and lists that are short.
 */
import { ApiError } from '../../errors/api-error.ts';

/** In characters: as much as `JSON.parse` parses in a few milliseconds, whatever the text. */
export const longestAtOnce = 64 * 1024;
/** No value of a request can be nested deeper than this; in a text of nothing but brackets, each level takes memory. */
const deepestNesting = 5000;
/** How many values and characters are parsed between checks of the time. */
const valuesInOneGo = 100;
const charactersInOneGo = 16 * 1024;
/** In characters: the longest piece that `JSON.parse` parses at once. */
const longestPiece = 4 * 1024;

type Container = unknown[] | Record<string, unknown>;

/** A generator that returns the value of a text; it pauses if the text is long. Throws a `SyntaxError`, or TOO_DEEP. */
export function* parseJson(text: string): Generator<void, unknown> {
  if (text.length <= longestAtOnce) return JSON.parse(text) as unknown;
  return yield* new LongText(text).parse();
}

const space = /[ \t\n\r]*/y;
const scalar = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

/** A parser without recursion, so that nesting uses no stack. */
class LongText {
  readonly #text: string;
  #position = 0;
  /** The open containers around the current position, innermost last. */
  readonly #open: Container[] = [];
  /** The key whose value each open object is waiting for; unused for lists. */
  readonly #keys: string[] = [];
  /**
   * The position up to which a search for the end of a container failed. Further searches start only after it, so that no text is read
   * again and again.
   */
  #searched = 0;

  constructor(text: string) {
    this.#text = text;
  }

  *parse(): Generator<void, unknown> {
    let paused = 0;
    for (let count = 1; ; count++) {
      if (count % valuesInOneGo === 0 || this.#position - paused > charactersInOneGo) {
        paused = this.#position;
        yield;
      }
      const value = this.#startValue();
      if (value === undefined) continue;
      const root = this.#endValue(value);
      if (root !== undefined) return root;
    }
  }

  /** A scalar, or a short container; undefined if a long container has begun, whose first value is next. */
  #startValue(): unknown {
    const first = this.#peek();
    const piece = first === '{' || first === '[' ? this.#shortContainer() : undefined;
    if (piece !== undefined) return piece;
    switch (first) {
      case '{':
        this.#position += 1;
        if (this.#skip('}')) return {};
        this.#begin({});
        this.#readKey();
        return undefined;
      case '[':
        this.#position += 1;
        if (this.#skip(']')) return [];
        this.#begin([]);
        return undefined;
      case '"':
        return this.#readString();
      default: {
        const token = this.#match(scalar);
        if (token === null) throw this.#unexpected();
        return JSON.parse(token) as unknown;
      }
    }
  }

  /** The container that begins here, if it ends soon. Also undefined if it cannot be parsed, so that errors are the same in all cases. */
  #shortContainer(): unknown {
    if (this.#position < this.#searched) return undefined;
    const end = nearEnd(this.#text, this.#position, deepestNesting - this.#open.length);
    if (end === null) {
      this.#searched = this.#position + longestPiece;
      return undefined;
    }
    try {
      const value: unknown = JSON.parse(this.#text.slice(this.#position, end));
      this.#position = end;
      return value;
    } catch {
      this.#searched = end;
      return undefined;
    }
  }

  /** Adds a value to its container and closes the containers that end after it. Returns the root once it is closed. */
  #endValue(ended: unknown): unknown {
    let value = ended;
    for (;;) {
      const container = this.#open.at(-1);
      if (container === undefined) {
        if (this.#peek() !== '') throw this.#unexpected();
        return value;
      }
      this.#put(container, value);
      const isList = Array.isArray(container);
      if (this.#skip(',')) {
        if (!isList) this.#readKey();
        return undefined;
      }
      if (!this.#skip(isList ? ']' : '}')) throw this.#unexpected();
      this.#open.pop();
      this.#keys.pop();
      value = container;
    }
  }

  #put(container: Container, value: unknown): void {
    if (Array.isArray(container)) {
      container.push(value);
      return;
    }
    const key = this.#keys.at(-1)!;
    // An own property, as `JSON.parse` makes it, rather than the object's prototype.
    if (key === '__proto__') Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
    else container[key] = value;
  }

  #begin(container: Container): void {
    if (this.#open.length === deepestNesting)
      throw new ApiError('TOO_DEEP', `The body is nested deeper than ${deepestNesting} levels, the maximum for any request.`);
    this.#open.push(container);
    this.#keys.push('');
  }

  #readKey(): void {
    if (this.#peek() !== '"') throw this.#unexpected();
    this.#keys[this.#keys.length - 1] = this.#readString();
    if (!this.#skip(':')) throw this.#unexpected();
  }

  /** A copy of the string: a slice would keep the whole text in memory. */
  #readString(): string {
    const start = this.#position;
    let end = start;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end === -1) throw this.#unexpected();
    } while (isEscaped(this.#text, end));
    this.#position = end + 1;
    return JSON.parse(this.#text.slice(start, end + 1)) as string;
  }

  /** The next character that is not white space, or '' at the end. */
  #peek(): string {
    space.lastIndex = this.#position;
    space.test(this.#text);
    this.#position = space.lastIndex;
    return this.#text.charAt(this.#position);
  }

  #skip(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#position += 1;
    return true;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#position;
    if (!pattern.test(this.#text)) return null;
    const start = this.#position;
    this.#position = pattern.lastIndex;
    return this.#text.slice(start, this.#position);
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`not JSON at position ${this.#position}`);
  }
}

const code = { quote: 0x22, backslash: 0x5c, openList: 0x5b, closeList: 0x5d, openObject: 0x7b, closeObject: 0x7d };

/** The position after the container that begins at `start`; null if it is too long or nested too deep. */
function nearEnd(text: string, start: number, deepest: number): number | null {
  const limit = Math.min(text.length, start + longestPiece);
  let depth = 0;
  let isString = false;
  for (let place = start; place < limit; place++) {
    const character = text.charCodeAt(place);
    if (character === code.quote) isString = !isString;
    else if (isString) place += character === code.backslash ? 1 : 0;
    else if (character === code.openList || character === code.openObject) depth += 1;
    else if (character === code.closeList || character === code.closeObject) depth -= 1;
    if (depth === 0) return place + 1;
    if (depth > deepest) return null;
  }
  return null;
}

/** Whether the quote at this position is escaped, and so part of its string. */
function isEscaped(text: string, place: number): boolean {
  let backslashes = 0;
  while (text[place - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
