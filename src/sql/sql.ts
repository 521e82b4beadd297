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
  /** The number of texts and placeholders in it, at any depth. */
  readonly size: number;
}

type Chunk = string | Bind | Sql;

function piece(chunks: readonly Chunk[]): Sql {
  let size = 0;
  for (const chunk of chunks) size += typeof chunk === 'object' && 'chunks' in chunk ? chunk.size : 1;
  return { chunks, size };
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

/** An integer literal. */
export function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number.`);
  return piece([String(value)]);
}

/** SQL text from PostgreSQL or from rowgraph: a type name by `format_type`, a keyword, an operator. Never from a client. */
export function trusted(text: string): Sql {
  return piece([text]);
}

/**
 * A call of a built-in function with one argument. Qualified, because otherwise PostgreSQL may take it for a cast to a type or table of
 * that name on the search path, if no function takes exactly this argument type (manual: Functions, Type Resolution).
 */
export function builtIn(name: string, argument: Sql): Sql {
  return sql`pg_catalog.${trusted(name)}(${argument})`;
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

/** Whether the text of a fragment starts with the pattern, which must be anchored. */
export function beginsWith(fragment: Sql, pattern: RegExp): boolean {
  const [first] = fragment.chunks;
  if (first === undefined || typeof first === 'string') return pattern.test(first ?? '');
  return 'chunks' in first && beginsWith(first, pattern);
}

/** A line break, which `render` indents by the number of open parentheses. */
export const newLine: Sql = piece(['\n']);

export interface Rendered<Parameter> {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** Renders the text with numbered placeholders, and the parameters in order. */
export function render<Parameter>(fragment: Sql): Rendered<Parameter> {
  const renderer = new Renderer<Parameter>((parameter) => parameter);
  renderer.write(fragment);
  const { text, parameters } = renderer;
  return { text, parameters };
}

/** Like `render`, but yields within long texts. Parameters with the same identity and type are one. */
export function* renderInSteps<Parameter>(
  fragment: Sql,
  identityOf: (parameter: Parameter) => unknown,
): Generator<void, Rendered<Parameter>> {
  const renderer = new Renderer<Parameter>(identityOf);
  yield* renderer.writeInSteps(fragment);
  const { text, parameters } = renderer;
  return { text, parameters };
}

/** The number of chunks to write before yielding. */
const chunksAtATime = 5000;

class Renderer<Parameter> {
  readonly parameters: Parameter[] = [];
  /** Joined at the end, because V8 represents a string built by appending as a tree of its parts, many times its size. */
  readonly #pieces: string[] = [];
  readonly #identityOf: (parameter: Parameter) => unknown;
  readonly #numbers = new Map<unknown, NumberOfType>();
  #depth = 0;
  #sincePause = 0;

  constructor(identityOf: (parameter: Parameter) => unknown) {
    this.#identityOf = identityOf;
  }

  get text(): string {
    return this.#pieces.join('');
  }

  /** Writes a fragment; a short one without yielding. */
  *writeInSteps(fragment: Sql): Generator<void, void> {
    if (this.#sincePause + fragment.size <= chunksAtATime) {
      this.#sincePause += fragment.size;
      this.write(fragment);
      return;
    }
    for (const chunk of fragment.chunks) {
      if (typeof chunk === 'object' && 'chunks' in chunk) yield* this.writeInSteps(chunk);
      else this.#writeChunk(chunk);
      this.#sincePause += 1;
      if (this.#sincePause < chunksAtATime) continue;
      this.#sincePause = 0;
      yield;
    }
  }

  write({ chunks }: Sql): void {
    for (const chunk of chunks) {
      if (typeof chunk === 'object' && 'chunks' in chunk) this.write(chunk);
      else this.#writeChunk(chunk);
    }
  }

  #writeChunk(chunk: string | Bind): void {
    if (typeof chunk !== 'string') this.#pieces.push(`$${this.#numberOf(chunk)}${chunk.isCast ? `::${chunk.type}` : ''}`);
    else if (chunk === '\n') this.#pieces.push(`\n${'  '.repeat(this.#depth)}`);
    else {
      this.#depth += depthOf(chunk);
      this.#pieces.push(chunk);
    }
  }

  #numberOf({ parameter, type }: Bind): number {
    const identity = this.#identityOf(parameter as Parameter);
    const first = this.#numbers.get(identity);
    for (let known = first; known; known = known.next) if (known.type === type) return known.number;
    const number = this.parameters.push(parameter as Parameter);
    this.#numbers.set(identity, { type, number, next: first });
    return number;
  }
}

/** The number of a parameter cast to a type, linked to those of the same parameter cast to other types. */
interface NumberOfType {
  readonly type: string;
  readonly number: number;
  readonly next: NumberOfType | undefined;
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
