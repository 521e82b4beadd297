/**
 * SQL text as safe fragments: identifiers are quoted here, text literals are escaped here, and values are parameters with a cast.
 * The only place of the project that writes a quote character into SQL. Knows PostgreSQL, never GraphQL.
 */

/** A placeholder: what is bound, and the type that it is cast to. The same object bound to the same type is one parameter. */
export interface Bind<Parameter = unknown> {
  readonly parameter: Parameter;
  readonly type: string;
}

/** An immutable piece of SQL. */
export interface Sql {
  readonly chunks: readonly (string | Bind)[];
}

/** Template tag: fragments are spliced in; nothing else can be. */
export function sql(strings: TemplateStringsArray, ...fragments: readonly Sql[]): Sql {
  const chunks: (string | Bind)[] = [];
  strings.forEach((text, index) => {
    if (text !== '') chunks.push(text);
    const fragment = fragments[index];
    if (fragment) chunks.push(...fragment.chunks);
  });
  return { chunks };
}

export const nothing: Sql = { chunks: [] };

/** Quotes a name, qualified by those before it: `"public"."account"` (manual: Identifiers and Key Words). */
export function identifier(...path: readonly string[]): Sql {
  return { chunks: [path.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')] };
}

/** A text literal of our own making, never of a client's (manual: String Constants). Right whatever `standard_conforming_strings` says. */
export function literal(text: string): Sql {
  const doubled = text.replaceAll("'", "''");
  const needsEscapes = /[\\\n]/.test(text);
  return { chunks: [needsEscapes ? `E'${doubled.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'` : `'${doubled}'`] };
}

/** A whole number as it stands in SQL. */
export function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number.`);
  return { chunks: [String(value)] };
}

/** Text of PostgreSQL's own making or of ours: a type name by `format_type`, a keyword, an operator. Never a client's. */
export function trusted(text: string): Sql {
  return { chunks: [text] };
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
  return { chunks: [{ parameter, type }] };
}

/** Fragments with a separator between them. */
export function join(fragments: readonly Sql[], separator: string | Sql): Sql {
  const chunks: (string | Bind)[] = [];
  fragments.forEach((fragment, index) => {
    if (index > 0) chunks.push(...(typeof separator === 'string' ? [separator] : separator.chunks));
    chunks.push(...fragment.chunks);
  });
  return { chunks };
}

/** A clause on a line of its own: `render` indents it by the parentheses it stands in. */
export const newLine: Sql = { chunks: ['\n'] };

/** The text with numbered placeholders, and what is bound to each in order. */
export function render<Parameter>(fragment: Sql): { readonly text: string; readonly parameters: readonly Parameter[] } {
  const parameters: Parameter[] = [];
  const numbers = new Map<unknown, Map<string, number>>();
  let depth = 0;
  const text = fragment.chunks.map((chunk) => {
    if (chunk === '\n') return `\n${'  '.repeat(depth)}`;
    if (typeof chunk === 'string') {
      depth += depthOf(chunk);
      return chunk;
    }
    const byType = numbers.get(chunk.parameter) ?? new Map<string, number>();
    numbers.set(chunk.parameter, byType);
    let number = byType.get(chunk.type);
    if (number === undefined) {
      number = parameters.push(chunk.parameter as Parameter);
      byType.set(chunk.type, number);
    }
    return `$${number}::${chunk.type}`;
  });
  return { text: text.join(''), parameters };
}

/** How many parentheses a piece opens more than it closes, those inside of quotes aside. */
function depthOf(text: string): number {
  let depth = 0;
  for (const [part] of text.matchAll(/'[^']*'|"[^"]*"|[()]/g)) depth += part === '(' ? 1 : part === ')' ? -1 : 0;
  return depth;
}
