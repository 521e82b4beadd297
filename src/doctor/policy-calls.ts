/** Finds calls in the conditions of policies whose result is the same for every row of a statement, and that are made for each row. */

/** What reads the claims of the caller. */
const claimFunctions = ['current_setting', 'auth.uid', 'auth.jwt', 'auth.role', 'auth.email'];
/** What an argument may hold that does not differ by row: literals with their casts, and words of the language. */
const constantParts = /'(?:[^']|'')*'|::[\w ."]+(?:\[\])?|\b(?:true|false|null|array|row)\b|[\d\s.,[\]()+*/-]/gi;

interface Parenthesis {
  /** Whether what is inside is in a subselect already, or will be. */
  readonly selected: boolean;
  /** Where the call begins whose arguments are inside, if it must be wrapped. */
  readonly callStart: number | null;
}

/**
 * A condition, as PostgreSQL deparsed it, with those calls wrapped: `current_setting('a')` → `(select current_setting('a'))`. PostgreSQL
 * evaluates such a subselect once, as it does not depend on the row. The condition itself where there is none. `others` are more functions, quoted as in
 * the condition; a call of one is wrapped if its arguments are constant.
 */
export function wrapCalls<Condition extends string | null>(condition: Condition, others: readonly string[] = []): Condition | string {
  if (condition === null) return condition;
  const insertions: [position: number, text: string][] = [];
  const open: Parenthesis[] = [];
  let callStart: number | null = null;
  for (const { 0: text, index } of condition.matchAll(tokenOf([...claimFunctions, ...others]))) {
    const selected = open.at(-1)?.selected ?? false;
    if (text === ')') {
      const closed = open.pop();
      if (closed && closed.callStart !== null) insertions.push([closed.callStart, '(select '], [index + 1, ')']);
    } else if (text.startsWith('(')) {
      open.push({ selected: selected || text !== '(' || callStart !== null, callStart });
      callStart = null;
    } else if (!isQuoted(text, others) && !selected && (!others.includes(text) || isConstantCall(condition, index + text.length))) {
      callStart = index;
    }
  }
  return insertions.reduceRight(
    (wrapped, [position, text]) => wrapped.slice(0, position) + text + wrapped.slice(position),
    condition as string,
  );
}

/** Calls, text in quotes, the beginning of a subselect, and parentheses. */
function tokenOf(functions: readonly string[]): RegExp {
  const names = functions.map((name) => name.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('|');
  return new RegExp(`(?<![\\w."])(?:${names})(?=\\()|'(?:[^']|'')*'|"(?:[^"]|"")*"|\\(\\s*SELECT\\b|[()]`, 'g');
}

function isQuoted(text: string, others: readonly string[]): boolean {
  return /^['"]/.test(text) && !others.includes(text);
}

/** Whether the arguments of the call whose parenthesis opens here differ by row. */
function isConstantCall(condition: string, start: number): boolean {
  let depth = 0;
  for (const { 0: text, index } of condition.slice(start).matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]/g)) {
    if (text === '(') depth += 1;
    else if (text === ')') depth -= 1;
    if (depth === 0) return condition.slice(start, start + index).replaceAll(constantParts, '') === '';
  }
  return false;
}
