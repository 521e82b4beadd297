/**
 * Splits the text of an SQL file into its statements, so that an error can name the line and the `copy … from stdin` blocks of a dump can
 * be loaded. It understands quotes, comments, dollar quotes and SQL-standard function bodies as psql does, and nothing else.
 */

export interface SqlStatement {
  readonly text: string;
  /** Where the statement begins in the file's text. */
  readonly offset: number;
  /** The rows of a `copy … from stdin`, as in the file. */
  readonly copyData: string | null;
}

/** A file that cannot be split, with the reason and the position. */
export class SqlSplitError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'SqlSplitError';
    this.offset = offset;
  }
}

/** The token at a position: the first alternative that matches. */
const token = new RegExp(
  [
    String.raw`(?<space>\s+|--[^\n]*)`,
    String.raw`(?<comment>/\*)`,
    `(?<quote>[eE]?'|")`,
    String.raw`(?<dollar>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)`,
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`(?<meta>\\\S*)`,
    String.raw`(?<other>[\s\S])`,
  ].join('|'),
  'uy',
);

/** Meta-commands of psql that occur in dumps and have no meaning here. */
const ignoredMetaCommands = new Set(['\\restrict', '\\unrestrict']);

/** The statements of a file, in order. Throws `SqlSplitError`. */
export function splitSql(source: string): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let position = 0;
  while (position < source.length) {
    const end = findEnd(source, position);
    position = end.next;
    if (end.start === null) continue;
    const text = source.slice(end.start, end.stop);
    const copyData = /^copy\b[\s\S]*\bfrom\s+stdin\b/i.test(text) ? readCopyData(source, position) : null;
    if (copyData !== null) position = copyData.next;
    statements.push({ text, offset: end.start, copyData: copyData?.rows ?? null });
  }
  return statements;
}

interface StatementEnd {
  /** Where the statement begins after white space and comments; null if there is none. */
  readonly start: number | null;
  readonly stop: number;
  readonly next: number;
}

/** Reads from a position to the semicolon that ends the statement, or to the end of the file. */
function findEnd(source: string, from: number): StatementEnd {
  let start: number | null = null;
  let parentheses = 0;
  const body = new FunctionBody();
  token.lastIndex = from;
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    const { groups = {}, index } = match;
    if (groups.space !== undefined) continue;
    if (groups.comment !== undefined) {
      token.lastIndex = endOfComment(source, index);
      continue;
    }
    if (groups.meta !== undefined && start === null) {
      return { start: null, stop: index, next: endOfMetaCommand(source, index, groups.meta) };
    }
    const isEnd = groups.other === ';' && parentheses === 0 && !body.isOpen;
    if (isEnd) return { start, stop: index, next: token.lastIndex };
    start ??= index;
    if (groups.quote !== undefined) token.lastIndex = endOfQuote(source, index, groups.quote);
    else if (groups.dollar !== undefined) token.lastIndex = endOfDollarQuote(source, index, groups.dollar);
    else if (groups.word !== undefined) body.read(groups.word.toLowerCase());
    else if (groups.other === '(') parentheses += 1;
    else if (groups.other === ')') parentheses = Math.max(0, parentheses - 1);
  }
  return { start, stop: source.length, next: source.length };
}

/** Whether the position is between `begin atomic` and its `end` in `create function`: semicolons there belong to the body. */
class FunctionBody {
  private readonly firstWords: string[] = [];
  private depth = 0;

  get isOpen(): boolean {
    return this.depth > 0;
  }

  read(word: string): void {
    if (this.firstWords.length < 4) this.firstWords.push(word);
    if (!/^create (or replace )?(function|procedure)\b/.test(this.firstWords.join(' '))) return;
    if (word === 'begin' || (word === 'case' && this.isOpen)) this.depth += 1;
    else if (word === 'end' && this.isOpen) this.depth -= 1;
  }
}

/** Comments nest in PostgreSQL. */
function endOfComment(source: string, from: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  let depth = 0;
  for (let match = mark.exec(source); match !== null; match = mark.exec(source)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  throw new SqlSplitError('a comment /* is not closed', from);
}

/** A doubled quote stands for itself; in e'…', so does any character after a backslash. */
function endOfQuote(source: string, from: number, opening: string): number {
  const quote = opening.at(-1);
  for (let index = from + opening.length; index < source.length; index++) {
    if (source[index] === '\\' && opening.length === 2) index += 1;
    else if (source[index] === quote && source[index + 1] === quote) index += 1;
    else if (source[index] === quote) return index + 1;
  }
  throw new SqlSplitError(`a quote ${quote} is not closed`, from);
}

function endOfDollarQuote(source: string, from: number, tag: string): number {
  const end = source.indexOf(tag, from + tag.length);
  if (end === -1) throw new SqlSplitError(`a quote ${tag} is not closed`, from);
  return end + tag.length;
}

function endOfMetaCommand(source: string, from: number, command: string): number {
  if (!ignoredMetaCommands.has(command)) throw new SqlSplitError(`${command} is a psql command, not SQL; remove it`, from);
  const end = source.indexOf('\n', from);
  return end === -1 ? source.length : end + 1;
}

/** The lines after `copy … from stdin;` up to the line `\.`. */
function readCopyData(source: string, from: number): { rows: string; next: number } {
  const start = source.indexOf('\n', from) + 1;
  const end = /^\\\.\r?$/m.exec(source.slice(start));
  if (start === 0 || end === null) throw new SqlSplitError('the rows of "copy" do not end with a line \\.', from);
  return { rows: source.slice(start, start + end.index), next: start + end.index + end[0].length };
}

/** The line of a position in a text, counted from 1. */
export function lineAt(source: string, offset: number): number {
  let line = 1;
  for (let end = source.indexOf('\n'); end !== -1 && end < offset; end = source.indexOf('\n', end + 1)) line += 1;
  return line;
}
