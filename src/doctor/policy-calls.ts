/** Finds function calls in policy conditions that PostgreSQL evaluates for each row although the result is the same for all. */

/** Functions that read the caller's claims. */
const claimFunctions = ['current_setting', 'auth.uid', 'auth.jwt', 'auth.role', 'auth.email'];
/** Parts of an argument that do not differ by row: literals with casts, keywords, operators. */
const constantParts = /'(?:[^']|'')*'|::[\w ."]+(?:\[\])?|\b(?:true|false|null|array|row)\b|[\d\s.,[\]()+*/|-]/gi;

interface Parenthesis {
  /** Whether its content is already in a subselect, or will be. */
  readonly selected: boolean;
  /** The start of the call whose arguments it encloses, if the call must be wrapped. */
  readonly callStart: number | null;
}

/**
 * Wraps such calls in a condition that PostgreSQL deparsed: `current_setting('a')` → `(select current_setting('a'))`. PostgreSQL evaluates
 * such a subselect only once, because it does not depend on the row. Returns the condition unchanged if there is none. `others` are more
 * functions, quoted as in the condition. Calls are wrapped if their arguments are constant.
 */
export function wrapCalls<Condition extends string | null>(condition: Condition, others: readonly string[] = []): Condition | string {
  if (condition === null) return condition;
  const insertions: [position: number, text: string][] = [];
  const open: Parenthesis[] = [];
  let callStart: number | null = null;
  const calls = callsOf([...claimFunctions, ...others]);
  for (const { 0: text, index } of condition.matchAll(tokenOf(calls))) {
    const selected = open.at(-1)?.selected ?? false;
    if (text === ')') {
      const closed = open.pop();
      if (closed && closed.callStart !== null) insertions.push([closed.callStart, '(select '], [index + 1, ')']);
    } else if (text.startsWith('(')) {
      open.push({ selected: selected || text !== '(' || callStart !== null, callStart });
      callStart = null;
    } else if (!isQuoted(text, others) && !selected && isConstantCall(condition, index + text.length, calls)) {
      callStart = index;
    }
  }
  return insertions.reduceRight<string>(
    (wrapped, [position, text]) => wrapped.slice(0, position) + text + wrapped.slice(position),
    condition,
  );
}

/** Matches the names of these functions where they are called. */
function callsOf(functions: readonly string[]): string {
  const names = functions.map((name) => name.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('|');
  return `(?<![\\w."])(?:${names})(?=\\()`;
}

function tokenOf(calls: string): RegExp {
  return new RegExp(`${calls}|'(?:[^']|'')*'|"(?:[^"]|"")*"|\\(\\s*SELECT\\b|[()]`, 'g');
}

function isQuoted(text: string, others: readonly string[]): boolean {
  return /^['"]/.test(text) && !others.includes(text);
}

/** Whether the call whose parenthesis opens at `start` has only constant arguments, or such calls. */
function isConstantCall(condition: string, start: number, calls: string): boolean {
  let depth = 0;
  for (const { 0: text, index } of condition.slice(start).matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]/g)) {
    if (text === '(') depth += 1;
    else if (text === ')') depth -= 1;
    if (depth > 0) continue;
    const argument = condition.slice(start, start + index).replaceAll(new RegExp(calls, 'g'), '');
    return argument.replaceAll(constantParts, '') === '';
  }
  return false;
}
