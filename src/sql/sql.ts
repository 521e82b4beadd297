/**
 * SQL text as safe fragments: identifiers and text literals are quoted here, and values are parameters with a cast. This is the only code
 * that writes quotes into SQL. Knows PostgreSQL, never GraphQL.
 */

/**
 * A placeholder: the parameter to bind and its type, to which it is cast unless PostgreSQL has to infer the type. The same object with the
 * same type is one parameter.
 */
export interface Bind<Parameter = unknown> {
  readonly parameter: Parameter;
  readonly type: string;
  readonly isCast: boolean;
}

/** An immutable piece of SQL: texts, placeholders and other pieces, which are referenced rather than copied. */
export interface Sql {
  readonly chunks: readonly Chunk[];
}

type Chunk = string | Bind | Sql;

function piece(chunks: readonly Chunk[]): Sql {
  return { chunks };
}

/** Template tag that splices fragments into SQL text, and accepts nothing else. */
export function sql(strings: TemplateStringsArray, ...fragments: readonly Sql[]): Sql {
  const chunks: Chunk[] = [];
  for (let index = 0; index < strings.length; index += 1) {
    const text = strings[index]!;
    if (text !== '') chunks.push(text);
    const fragment = fragments[index];
    if (fragment) chunks.push(fragment);
  }
  return piece(chunks);
}

export const nothing: Sql = piece([]);

/** Quotes the parts of a qualified name: `"public"."account"` (manual: Identifiers and Key Words). */
export function identifier(...path: readonly string[]): Sql {
  return piece([path.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')]);
}

/**
 * A literal of text that never comes from a client (manual: String Constants). Correct for any setting of `standard_conforming_strings`.
 */
export function literal(text: string): Sql {
  const doubled = text.replaceAll("'", "''");
  const needsEscapes = /[\\\n]/.test(text);
  return piece([needsEscapes ? `E'${doubled.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'` : `'${doubled}'`]);
}

/**
 * A literal of text that may come from a client, where PostgreSQL takes no parameters: in SET. Quotes and backslashes are written as their
 * code points, like all that is not ASCII, so that nothing in the text can end the literal or begin another escape, whatever the settings
 * and the encoding (manual: String Constants with C-Style Escapes).
 */
export function escapedLiteral(text: string): Sql {
  const escaped = text.toWellFormed().replaceAll(/[^ -&(-[\]-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return piece([`E'${escaped}'`]);
}

export function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number.`);
  return piece([String(value)]);
}

/** SQL text from PostgreSQL or from rowgraph: a type name by `format_type`, a keyword, an operator. Never from a client. */
export function trusted(text: string): Sql {
  return piece([text]);
}

/**
 * A call of a built-in function. Qualified, because otherwise PostgreSQL may take it for a cast to a type or table of that name on the
 * search path, or for a user's function whose arguments match better (manual: Functions, Type Resolution).
 */
export function builtIn(name: string, ...operands: readonly Sql[]): Sql {
  return sql`pg_catalog.${trusted(name)}(${join(operands, ', ')})`;
}

export function cast(value: Sql, type: string): Sql {
  return sql`${value}::${trusted(type)}`;
}

export function bind(parameter: unknown, type: string): Sql {
  return piece([{ parameter, type, isCast: true }]);
}

/** A placeholder whose type PostgreSQL infers from what it is compared with, because the SQL may not name it. */
export function bindUncast(parameter: unknown, type: string): Sql {
  return piece([{ parameter, type, isCast: false }]);
}

export function join(fragments: readonly Sql[], separator: string | Sql): Sql {
  const chunks: Chunk[] = [];
  for (const fragment of fragments) {
    if (chunks.length > 0) chunks.push(separator);
    chunks.push(fragment);
  }
  return piece(chunks);
}

/** A line break, which `render` indents by the number of open parentheses. */
export const newLine: Sql = piece(['\n']);

interface Rendered<Parameter> {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** Renders the text with numbered placeholders, and the parameters in order. */
export function render<Parameter>(fragment: Sql): Rendered<Parameter> {
  const renderer = new Renderer<Parameter>(fragment, (parameter) => parameter);
  renderer.write(Number.POSITIVE_INFINITY);
  return renderer.result();
}

/** Like `render`, but yields within long texts. Parameters with the same identity and type are one. */
export function* renderInSteps<Parameter>(
  fragment: Sql,
  identityOf: (parameter: Parameter) => unknown,
): Generator<void, Rendered<Parameter>> {
  const renderer = new Renderer<Parameter>(fragment, identityOf);
  while (!renderer.write(chunksAtATime)) yield;
  return renderer.result();
}

/** The number of chunks to write before yielding. */
const chunksAtATime = 5000;

class Renderer<Parameter> {
  readonly #parameters: Parameter[] = [];
  /** Joined at the end, because V8 represents a string built by appending as a tree of its parts, many times its size. */
  readonly #texts: string[] = [];
  readonly #identityOf: (parameter: Parameter) => unknown;
  /** The number of a parameter by its identity and the type that it is cast to. */
  readonly #numbers = new Map<unknown, Map<string, number>>();
  /** The fragments that are being written, each inside the one before it, with the index of the next chunk. */
  readonly #open: { readonly chunks: readonly Chunk[]; next: number }[];
  #depth = 0;

  constructor({ chunks }: Sql, identityOf: (parameter: Parameter) => unknown) {
    this.#open = [{ chunks, next: 0 }];
    this.#identityOf = identityOf;
  }

  /** Writes up to so many chunks; returns whether all have been written. */
  write(most: number): boolean {
    for (let count = 0; count < most; count += 1) {
      const innermost = this.#open.at(-1);
      if (!innermost) return true;
      const chunk = innermost.chunks[innermost.next];
      innermost.next += 1;
      if (chunk === undefined) this.#open.pop();
      else if (typeof chunk === 'object' && 'chunks' in chunk) this.#open.push({ chunks: chunk.chunks, next: 0 });
      else this.#writeChunk(chunk);
    }
    return false;
  }

  result(): Rendered<Parameter> {
    return { text: this.#texts.join(''), parameters: this.#parameters };
  }

  #writeChunk(chunk: string | Bind): void {
    if (typeof chunk !== 'string') this.#texts.push(`$${this.#numberOf(chunk)}${chunk.isCast ? `::${chunk.type}` : ''}`);
    else if (chunk === '\n') this.#texts.push(`\n${'  '.repeat(this.#depth)}`);
    else {
      this.#depth += depthOf(chunk);
      this.#texts.push(chunk);
    }
  }

  #numberOf({ parameter, type }: Bind): number {
    const identity = this.#identityOf(parameter as Parameter);
    const numbers = this.#numbers.get(identity) ?? new Map<string, number>();
    this.#numbers.set(identity, numbers);
    const number = numbers.get(type) ?? this.#parameters.push(parameter as Parameter);
    numbers.set(type, number);
    return number;
  }
}

/** How many more parentheses a text opens than it closes, ignoring those in quotes. */
function depthOf(text: string): number {
  let depth = 0;
  let quote = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (quote !== 0) {
      if (code === quote) quote = 0;
    } else if (code === singleQuote || code === doubleQuote) quote = code;
    else if (code === openingParenthesis) depth += 1;
    else if (code === closingParenthesis) depth -= 1;
  }
  return depth;
}

const [singleQuote, doubleQuote, openingParenthesis, closingParenthesis] = [0x27, 0x22, 0x28, 0x29];
