/**
 * Reads conditions and sort keys as `explain (verbose)` deparses them: which columns of a table are compared, and how, as far as an index
 * could serve it. Ignores what it does not understand.
 */

/** `equality` with one value, `membership` in a list, a test for `null`, a `range`, or the `prefix` of a text. */
type ComparisonKind = 'equality' | 'membership' | 'null' | 'range' | 'prefix';

export interface Comparison {
  readonly column: string;
  readonly kind: ComparisonKind;
  /** Whether the column is cast to text. PostgreSQL casts `varchar` this way for comparisons, which an index on it still serves. */
  readonly asText: boolean;
}

export interface SortKey {
  readonly column: string;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Quoted texts and names, and parentheses. */
const token = /E?'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|[()]/g;
const name = '(?:"(?:[^"]|"")*"|[\\p{L}_][\\p{L}\\p{N}_$]*)';
const operators: Readonly<Record<string, ComparisonKind>> = {
  '=': 'equality',
  '<': 'range',
  '<=': 'range',
  '>': 'range',
  '>=': 'range',
  '^@': 'prefix',
  '~~': 'prefix',
};
const flipped = new RegExp(`^(?<other>.+) (?<operator>=|<=?|>=?) (?<alias>${name})\\.(?<column>${name})$`, 'su');
const plain = new RegExp(
  `^(?:(?<alias>${name})\\.(?<column>${name})|\\((?<castAlias>${name})\\.(?<castColumn>${name})\\)::text) (?<operator>=|<=?|>=?|\\^@|~~) (?<other>.+)$`,
  'su',
);
/** A boolean column, which is a condition by itself, or a test for null. */
const tested = new RegExp(`^(?:NOT )?(?<alias>${name})\\.(?<column>${name})(?<isNull> IS NULL)?$`, 'u');
/** A literal pattern that starts with literal text. */
const literalPrefix = /^E?'[^'%_]/;
const sorted = new RegExp(`^(?<alias>${name})\\.(?<column>${name})(?<descending> DESC)?(?: NULLS (?<nulls>FIRST|LAST))?$`, 'u');

/** The comparisons in a condition that must all hold and that compare a column of the table with a value independent of its rows. */
export function readComparisons(condition: string, alias: string): Comparison[] {
  return conjunctsOf(condition).flatMap((conjunct) => readComparison(conjunct, quoteName(alias)) ?? []);
}

/** Reads a sort key; null if it is not a column of the table. */
export function readSortKey(text: string, alias: string): SortKey | null {
  const groups = sorted.exec(text)?.groups;
  if (groups?.alias !== quoteName(alias)) return null;
  const descending = groups.descending !== undefined;
  return { column: groups.column!, descending, nullsFirst: groups.nulls === undefined ? descending : groups.nulls === 'FIRST' };
}

function readComparison(conjunct: string, alias: string): Comparison | null {
  const test = tested.exec(conjunct)?.groups;
  if (test !== undefined)
    return test.alias === alias ? { column: test.column!, kind: test.isNull ? 'null' : 'equality', asText: false } : null;
  const { groups } = plain.exec(conjunct) ?? flipped.exec(conjunct) ?? {};
  if (groups === undefined || (groups.alias ?? groups.castAlias) !== alias) return null;
  const { operator = '', other = '' } = groups;
  const column = groups.column ?? groups.castColumn!;
  if (mentions(other, alias)) return null;
  // Deparsed conditions have `ANY` after the operator.
  const kind = /^(?:ANY|ALL) \(/.test(other) ? (operator === '=' && other.startsWith('ANY') ? 'membership' : null) : operators[operator]!;
  if (kind === 'prefix' && !literalPrefix.test(other)) return null;
  return kind === null ? null : { column, kind, asText: groups.castColumn !== undefined };
}

/** Whether an expression reads a column of the table, and therefore differs by row. */
function mentions(expression: string, alias: string): boolean {
  const names = expression.matchAll(new RegExp(`'(?:[^'\\\\]|''|\\\\.)*'|(${name})\\.`, 'gu'));
  return [...names].some(([, found]) => found === alias);
}

/** `((a) AND (b))` → `a`, `b`, without the parentheses around each. */
function conjunctsOf(condition: string): string[] {
  const inner = unwrap(condition);
  const parts = splitAt(inner, ' AND ');
  return parts.length === 1 ? [inner] : parts.flatMap(conjunctsOf);
}

function unwrap(text: string): string {
  let depth = 0;
  if (!text.startsWith('(')) return text;
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === '(') depth += 1;
    else if (found === ')') depth -= 1;
    if (depth === 0) return index === text.length - 1 ? unwrap(text.slice(1, -1)) : text;
  }
  return text;
}

/** Splits at separators outside quotes and parentheses. */
function splitAt(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  let position = 0;
  const look = (end: number): void => {
    for (let at = text.indexOf(separator, position); depth === 0 && at >= 0 && at < end; at = text.indexOf(separator, at + 1)) {
      parts.push(text.slice(start, at));
      start = at + separator.length;
    }
    position = end;
  };
  for (const { 0: found, index } of text.matchAll(token)) {
    look(index);
    if (found === '(') depth += 1;
    else if (found === ')') depth -= 1;
    position = index + found.length;
  }
  look(text.length);
  return [...parts, text.slice(start)];
}

/** Quotes a name as PostgreSQL deparses it: only if necessary. Ignores keywords, because no alias of rowgraph is one. */
function quoteName(text: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}
