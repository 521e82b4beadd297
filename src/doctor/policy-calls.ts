/** Finds calls in the conditions of policies whose result is the same for every row of a statement, and that are made for each row. */

/** Text in quotes, the beginning of a subselect, parentheses, and calls of what reads the claims of the caller. */
const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\(\s*SELECT\b|[()]|\b(?:current_setting|auth\.(?:uid|jwt|role|email))(?=\()/g;

interface Parenthesis {
  /** Whether what is inside is in a subselect already, or will be. */
  readonly selected: boolean;
  /** Where the call begins whose arguments are inside, if it must be wrapped. */
  readonly callStart: number | null;
}

/**
 * A condition, as PostgreSQL deparsed it, with those calls wrapped: `current_setting('a')` → `(select current_setting('a'))`. PostgreSQL
 * evaluates such a subselect once, as it does not depend on the row. The condition itself where there is none.
 */
export function wrapCalls<Condition extends string | null>(condition: Condition): Condition | string {
  if (condition === null) return condition;
  const insertions: [position: number, text: string][] = [];
  const open: Parenthesis[] = [];
  let callStart: number | null = null;
  for (const { 0: text, index } of condition.matchAll(token)) {
    const selected = open.at(-1)?.selected ?? false;
    if (text === ')') {
      const closed = open.pop();
      if (closed && closed.callStart !== null) insertions.push([closed.callStart, '(select '], [index + 1, ')']);
    } else if (text.startsWith('(')) {
      open.push({ selected: selected || text !== '(' || callStart !== null, callStart });
      callStart = null;
    } else if (!/^['"]/.test(text) && !selected) {
      callStart = index;
    }
  }
  return insertions.reduceRight(
    (wrapped, [position, text]) => wrapped.slice(0, position) + text + wrapped.slice(position),
    condition as string,
  );
}
