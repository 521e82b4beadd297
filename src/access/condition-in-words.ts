/**
 * Writes the condition of a policy as a person would say it: `( SELECT auth.uid() AS uid) = owner` → `auth.uid() = owner`, and a claim that
 * is read from the settings of the request as `the claim sub`. It only shortens what `pg_get_expr` writes: whatever it does not know stays.
 */

/** Text in quotes, which stays as it is. */
const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"/;
const keyword =
  /\b(?:AND|OR|NOT|IS|NULL|TRUE|FALSE|IN|ANY|ALL|EXISTS|SELECT|FROM|WHERE|AS|CASE|WHEN|THEN|ELSE|END|LIKE|ILIKE|BETWEEN|DISTINCT|JOIN|ON|ARRAY|ORDER|BY|LIMIT|GROUP|HAVING|UNION)\b/;
const wordOrQuoted = new RegExp(`${quoted.source}|${keyword.source}`, 'g');

const cast = '(?:::(?:jsonb?|text))?';
const setting = String.raw`\({0,3}(?:NULLIF\()?\({0,3}current_setting\('request\.jwt\.claims'(?:, true)?\)\){0,3}(?:, ''\))?\){0,3}${cast}`;
/** A claim, as policies read it. */
const claims: readonly RegExp[] = [
  new RegExp(String.raw`${setting}\){0,3} ->> '(?<name>[\w.:/-]+)'\){0,3}`, 'g'),
  /\({0,3}auth\.jwt\(\)\){0,3} ->> '(?<name>[\w.:/-]+)'\){0,3}/g,
  /(?:NULLIF\()?current_setting\('request\.jwt\.claim\.(?<name>\w+)'(?:, true)?\)(?:, ''\))?/g,
];

export function conditionInWords(expression: string): string {
  let text = expression.replaceAll(/\s+/g, ' ').trim();
  text = text.replaceAll(/('(?:[^']|'')*')::(?:text|character varying|name)\b(?!\[)/g, '$1');
  text = unwrapSelects(text);
  for (const claim of claims) text = text.replaceAll(claim, (found, ...rest) => balanced(found, `the claim ${nameIn(rest)}`));
  text = unwrap(text);
  return text.replaceAll(wordOrQuoted, (found) => (/^['"]/.test(found) ? found : found.toLowerCase()));
}

function nameIn(rest: readonly unknown[]): string {
  const groups = rest.at(-1) as { readonly name?: string } | undefined;
  return groups?.name ?? '';
}

/** The replacement of a text with the parentheses that it leaves open or closes too often. */
function balanced(found: string, replacement: string): string {
  let open = 0;
  let closed = 0;
  for (const { 0: token } of found.matchAll(new RegExp(`${quoted.source}|[()]`, 'g'))) {
    if (token === '(') open += 1;
    if (token !== ')') continue;
    if (open > 0) open -= 1;
    else closed += 1;
  }
  return `${'('.repeat(open)}${replacement}${')'.repeat(closed)}`;
}

/** `( SELECT expression AS name)` → `expression`, if it selects from nothing. */
function unwrapSelects(text: string): string {
  const start = text.indexOf('( SELECT ');
  if (start < 0) return text;
  const end = closingOf(text, start);
  if (end < 0) return text;
  const inner = unwrapSelects(text.slice(start + '( SELECT '.length, end));
  const alias = /^(?<value>.*) AS (?:\w+|"(?:[^"]|"")*")$/s.exec(inner)?.groups?.value ?? inner;
  const outside = inner.replaceAll(new RegExp(quoted.source, 'g'), '');
  const isPlain = !/\b(?:FROM|WHERE|UNION|LIMIT)\b/.test(outside);
  const shown = isPlain ? simplest(alias) : `( SELECT ${inner})`;
  return `${text.slice(0, start)}${shown}${unwrapSelects(text.slice(end + 1))}`;
}

/** A value in parentheses, unless it needs none: a name, or the call of a function. */
function simplest(value: string): string {
  const isWhole = /^[\w.]+\(/.test(value) && closingOf(value, value.indexOf('(')) === value.length - 1;
  return isWhole || /^[\w.]+$/.test(value) || value.startsWith('(') ? value : `(${value})`;
}

/** The place of the parenthesis that closes the one at `start`; -1 if there is none. */
function closingOf(text: string, start: number): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(new RegExp(`${quoted.source}|[()]`, 'g'))) {
    if (index < start) continue;
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    if (depth === 0 && index >= start && token === ')') return index;
  }
  return -1;
}

/** Without the parentheses around the whole. */
function unwrap(text: string): string {
  return text.startsWith('(') && closingOf(text, 0) === text.length - 1 ? unwrap(text.slice(1, -1).trim()) : text;
}

/** Joins conditions by a word; those that have such words of their own in parentheses. */
export function joinConditions(conditions: readonly string[], word: 'and' | 'or'): string {
  const distinct = [...new Set(conditions)];
  if (distinct.length === 1) return distinct[0]!;
  return distinct
    .map((each) => (/ (?:and|or) /.test(each.replaceAll(new RegExp(quoted.source, 'g'), '')) ? `(${each})` : each))
    .join(` ${word} `);
}
