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
  /** Whether `column` is an expression: a member of a composite column, or a part of JSON. */
  readonly isExpression?: true;
}

export interface SortKey {
  readonly column: string;
  readonly isExpression?: true;
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
const patterned = new RegExp(
  `^(?:(?<alias>${name})\\.(?<column>${name})|\\((?<castAlias>${name})\\.(?<castColumn>${name})\\)::text) (?<operator>~~\\*?) E?'(?<pattern>(?:[^'\\\\]|''|\\\\.)*)'::text$`,
  'su',
);
/** Wildcards and escapes are between words. */
const wordOfPattern = /[\p{L}\p{N}]{3}/u;
/** A boolean column, which is a condition by itself, or a test for null. */
const tested = new RegExp(`^(?:NOT )?(?<alias>${name})\\.(?<column>${name})(?<isNull> IS NULL)?$`, 'u');
/** A literal pattern that starts with literal text. */
const literalPrefix = /^E?'[^'%_]/;
const sorted = /^(?<key>.*?)(?<descending> DESC)?(?: NULLS (?<nulls>FIRST|LAST))?$/su;
const qualified = new RegExp(`^(?<alias>${name})\\.(?<column>${name})$`, 'u');

const types = 'text|character varying|numeric|integer|bigint|smallint|real|double precision|boolean|uuid|jsonb';
/**
 * What an expression consists of that an index can be on, because it is immutable: columns, members of composites, parts of JSON, and the
 * tests by which rowgraph reads these as other types.
 */
const expressionToken = new RegExp(
  [
    `(?<alias>${name})\\.(?<column>${name})`,
    `(?<member>(?<=[)\\p{L}\\p{N}_$"])\\.${name})`,
    "(?<part> ->>? )(?='|E')",
    "E?'(?:[^'\\\\]|''|\\\\.)*'::text(?!\\[)",
    `::(?:${types})\\b(?!\\[)`,
    "'[^']*'::(?:numeric|double precision)",
    '(?:jsonb_typeof|trunc)(?=\\()',
    '\\b(?:CASE|WHEN|THEN|ELSE|END|NULL|AND)\\b',
    '[(),\\s]|\\d+|[=~]|[<>]=?',
  ].join('|'),
  'suy',
);

/** The comparisons in a condition that must all hold and that compare a column of the table with a value independent of its rows. */
export function readComparisons(condition: string, alias: string): Comparison[] {
  return conjunctsOf(condition).flatMap((conjunct) => readComparison(conjunct, quoteName(alias)) ?? []);
}

/**
 * The columns that must match a literal pattern of `like` or `ilike` in which trigrams find a word. Those of `like` that begin with text are
 * prefixes.
 */
export function readPatterns(condition: string, alias: string): Pick<Comparison, 'column' | 'asText'>[] {
  return conjunctsOf(condition).flatMap((conjunct) => {
    const groups = patterned.exec(conjunct)?.groups;
    if (groups === undefined || (groups.alias ?? groups.castAlias) !== quoteName(alias)) return [];
    const { column = groups.castColumn!, operator, pattern = '' } = groups;
    const isFound = wordOfPattern.test(pattern) && !(operator === '~~' && literalPrefix.test(`'${pattern}`));
    return isFound ? [{ column, asText: groups.castColumn !== undefined }] : [];
  });
}

/** Reads a sort key; null if it is neither a column of the table, nor an expression that an index can be on. */
export function readSortKey(text: string, alias: string): SortKey | null {
  const { key = '', descending: isDescending, nulls } = sorted.exec(text)?.groups ?? {};
  const groups = qualified.exec(key)?.groups;
  const expression = groups === undefined ? readExpression(key, quoteName(alias)) : null;
  if (groups === undefined ? expression === null : groups.alias !== quoteName(alias)) return null;
  const descending = isDescending !== undefined;
  const direction = { descending, nullsFirst: nulls === undefined ? descending : nulls === 'FIRST' };
  return expression === null ? { column: groups!.column!, ...direction } : { column: expression, isExpression: true, ...direction };
}

function readComparison(conjunct: string, alias: string): Comparison | null {
  const test = tested.exec(conjunct)?.groups;
  if (test !== undefined)
    return test.alias === alias ? { column: test.column!, kind: test.isNull ? 'null' : 'equality', asText: false } : null;
  const { groups } = plain.exec(conjunct) ?? flipped.exec(conjunct) ?? {};
  if (groups === undefined) return readExpressionComparison(conjunct, alias);
  if ((groups.alias ?? groups.castAlias) !== alias) return null;
  const { operator = '', other = '' } = groups;
  const column = groups.column ?? groups.castColumn!;
  if (mentions(other, alias)) return null;
  const kind = kindOf(operator, other);
  return kind === null ? null : { column, kind, asText: groups.castColumn !== undefined };
}

function kindOf(operator: string, other: string): ComparisonKind | null {
  // Deparsed conditions have `ANY` after the operator.
  if (/^(?:ANY|ALL) \(/.test(other)) return operator === '=' && other.startsWith('ANY') ? 'membership' : null;
  const kind = operators[operator]!;
  return kind === 'prefix' && !literalPrefix.test(other) ? null : kind;
}

/** `(t1.home).city = 'Ulm'::text`, `(t1.details ->> 'name'::text) IS NULL` */
function readExpressionComparison(conjunct: string, alias: string): Comparison | null {
  const isNull = conjunct.endsWith(' IS NULL');
  const operator = isNull ? ' IS NULL' : Object.keys(operators).find((each) => splitAt(conjunct, ` ${each} `).length === 2);
  if (operator === undefined) return null;
  const [left = '', other = ''] = isNull ? [conjunct.slice(0, -operator.length)] : splitAt(conjunct, ` ${operator} `);
  const column = readExpression(left, alias);
  const kind = isNull ? 'null' : kindOf(operator, other);
  return column === null || kind === null || mentions(other, alias) ? null : { column, kind, asText: false, isExpression: true };
}

/** An expression on members of composite columns or parts of JSON, without the alias and outer parentheses; null if it is none. */
function readExpression(text: string, alias: string): string | null {
  let written = '';
  let readsPart = false;
  for (let position = 0; position < text.length; position = expressionToken.lastIndex) {
    expressionToken.lastIndex = position;
    const found = expressionToken.exec(text);
    if (found === null || (found.groups!.alias ?? alias) !== alias) return null;
    readsPart ||= (found.groups!.member ?? found.groups!.part) !== undefined;
    written += found.groups!.column ?? found[0];
  }
  return readsPart ? unwrap(written) : null;
}

/** An expression without casts to text that change nothing, so that it equals that of an index which serves it. */
export function plainExpression(text: string): string {
  const inner = unwrap(text);
  return inner.endsWith(')::text') ? plainExpression(inner.slice(0, -6)) : inner;
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
