/**
 * SQL text as safe fragments: identifiers are quoted here, text literals are escaped here, and values are parameters with a cast.
 * The only place of the project that writes a quote character into SQL. Knows PostgreSQL, never GraphQL.
 */

/** A placeholder: what is bound, and the type that it is cast to. The same object bound to the same type is one parameter. */
export interface Bind<Parameter = unknown> {
  readonly parameter: Parameter;
  readonly type: string;
}

/** An immutable piece of SQL: texts, placeholders and further pieces, which are not copied into it. */
export interface Sql {
  readonly chunks: readonly Chunk[];
  /** How many texts and placeholders there are in it, at any depth. */
  readonly size: number;
}

type Chunk = string | Bind | Sql;

function piece(chunks: readonly Chunk[]): Sql {
  let size = 0;
  for (const chunk of chunks) size += typeof chunk === 'object' && 'chunks' in chunk ? chunk.size : 1;
  return { chunks, size };
}

/** Template tag: fragments are spliced in; nothing else can be. */
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

/** Quotes a name, qualified by those before it: `"public"."account"` (manual: Identifiers and Key Words). */
export function identifier(...path: readonly string[]): Sql {
  return piece([path.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')]);
}

/** A text literal of our own making, never of a client's (manual: String Constants). Right whatever `standard_conforming_strings` says. */
export function literal(text: string): Sql {
  const doubled = text.replaceAll("'", "''");
  const needsEscapes = /[\\\n]/.test(text);
  return piece([needsEscapes ? `E'${doubled.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'` : `'${doubled}'`]);
}

/** A whole number as it stands in SQL. */
export function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number.`);
  return piece([String(value)]);
}

/** Text of PostgreSQL's own making or of ours: a type name by `format_type`, a keyword, an operator. Never a client's. */
export function trusted(text: string): Sql {
  return piece([text]);
}

/**
 * A call of a function of PostgreSQL with one argument. Qualified, because such a call is a cast where the search path holds a type or table
 * of that name and no function takes exactly this argument (manual: Functions, Type Resolution).
 */
export function builtIn(name: string, argument: Sql): Sql {
  return sql`pg_catalog.${trusted(name)}(${argument})`;
}

/** A parameter, cast to a type. */
export function bind(parameter: unknown, type: string): Sql {
  return piece([{ parameter, type }]);
}

/** Fragments with a separator between them. */
export function join(fragments: readonly Sql[], separator: string | Sql): Sql {
  const chunks: Chunk[] = [];
  for (const fragment of fragments) {
    if (chunks.length > 0) chunks.push(separator);
    chunks.push(fragment);
  }
  return piece(chunks);
}

/** Whether the text of a fragment begins like this. */
export function beginsWith(fragment: Sql, pattern: RegExp): boolean {
  const [first] = fragment.chunks;
  if (first === undefined || typeof first === 'string') return pattern.test(first ?? '');
  return 'chunks' in first && beginsWith(first, pattern);
}

/** A clause on a line of its own: `render` indents it by the parentheses it stands in. */
export const newLine: Sql = piece(['\n']);

/** Text and parameters of a statement. */
export interface Rendered<Parameter> {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** The text with numbered placeholders, and what is bound to each in order. */
export function render<Parameter>(fragment: Sql): Rendered<Parameter> {
  const renderer = new Renderer<Parameter>((parameter) => parameter);
  renderer.write(fragment);
  const { text, parameters } = renderer;
  return { text, parameters };
}

/** The same, pausing in long texts. Parameters of one identity that are cast to the same type are one. */
export function* renderInSteps<Parameter>(
  fragment: Sql,
  identityOf: (parameter: Parameter) => unknown,
): Generator<void, Rendered<Parameter>> {
  const renderer = new Renderer<Parameter>(identityOf);
  yield* renderer.writeInSteps(fragment);
  const { text, parameters } = renderer;
  return { text, parameters };
}

/** Pieces that are written between two pauses. */
const chunksAtATime = 5000;

class Renderer<Parameter> {
  readonly parameters: Parameter[] = [];
  /** Joined at the end: a text that is added to by and by is kept as a tree of its pieces, which takes many times its length. */
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

  /** A short piece is written as a whole. */
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
    if (typeof chunk !== 'string') this.#pieces.push(`$${this.#numberOf(chunk)}::${chunk.type}`);
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

/** The number of a parameter that is cast to a type, and those of the same one cast to others. */
interface NumberOfType {
  readonly type: string;
  readonly number: number;
  readonly next: NumberOfType | undefined;
}

/** How many parentheses a piece opens more than it closes, those inside of quotes aside. */
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
