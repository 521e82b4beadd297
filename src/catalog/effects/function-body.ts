/**
 * What the body of a function in SQL or PL/pgSQL may do, as far as its words tell. The answers err on the side of caution: a word counts
 * wherever it stands, as a name of anything.
 */
import { sessionFunctions } from './effects-query.ts';

/** Statements and functions whose SQL may be put together from what is not in the body. */
const dynamicWords = /^(execute|(query|cursor|table|schema|database)_to_xml\w*|ts_stat|ts_rewrite|crosstab\w*|connectby|xpath_table)$/;

/**
 * Commands and functions that change the session; `set` is examined apart, because every update has it. A table may be temporary because of
 * the search path. A cursor outlives its transaction if declared "with hold".
 */
const sessionWords: ReadonlySet<string> = new Set([
  ...sessionFunctions,
  ...words('reset discard listen prepare deallocate load create temp temporary pg_temp hold'),
]);

/** Words that stand for the caller or the session, or for SQL that is not in the body. */
const callerWords = words('current_user session_user system_user current_role user current_catalog current_schema execute show');

/**
 * Functions that are not immutable and read nothing of the caller: their results depend on the time zone, on formats, or on the types of
 * arguments. Many functions that use them are labelled immutable, and no caller sees another's value through them.
 */
const formatting = words(`
  concat concat_ws format to_char to_date to_timestamp array_to_string quote_literal quote_nullable pg_typeof
  to_json to_jsonb row_to_json array_to_json json_build_object json_build_array jsonb_build_object jsonb_build_array
  json_agg jsonb_agg json_object_agg jsonb_object_agg json_populate_record jsonb_populate_record json_populate_recordset
  jsonb_populate_recordset json_to_record jsonb_to_record json_to_recordset jsonb_to_recordset
  age date date_add date_part date_subtract date_trunc extract generate_series make_timestamptz overlaps time
  timestamp timestamptz timetz timezone money interval
  to_tsvector to_tsquery plainto_tsquery phraseto_tsquery websearch_to_tsquery ts_headline unaccent`);

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** The words that an immutable function must not use, given the names of PostgreSQL's functions that are not immutable. */
export function wordsOfReaders(notImmutable: readonly string[]): ReadonlySet<string> {
  const words = new Set([...notImmutable, ...callerWords]);
  for (const name of formatting) words.delete(name);
  return words;
}

export class FunctionBody {
  readonly #text: string;
  readonly #words = new Set<string>();

  constructor(text: string) {
    this.#text = text;
    for (const [word] of withoutStrings(text).matchAll(/[\p{L}_][\p{L}\p{N}_$]*/gu)) {
      this.#words.add(word);
      this.#words.add(word.toLowerCase());
    }
  }

  /** Whether it names this object. A name that is not a plain word is searched in the text. */
  names(name: string): boolean {
    return isWord(name) ? this.#words.has(name) : this.#text.includes(name) || this.#text.includes(name.replaceAll('"', '""'));
  }

  get words(): Iterable<string> {
    return this.#words;
  }

  /** Whether it may read or write a table: one is only reached through one of these words. */
  get usesTables(): boolean {
    return ['from', 'join', 'using', 'table', 'into', 'update', 'truncate', 'merge', 'copy'].some((word) => this.#words.has(word));
  }

  /** Whether it may use what it does not name legibly: dynamic SQL, `U&"set\005fconfig"`, names that PostgreSQL cuts off. */
  get isObscure(): boolean {
    if (/u&["']/i.test(this.#text)) return true;
    for (const word of this.#words) if (dynamicWords.test(word) || isTooLong(word)) return true;
    return [...this.#text.matchAll(/"((?:[^"]|"")*)"/g)].some(([, name]) => isTooLong(name!));
  }

  get readsSequences(): boolean {
    return this.#words.has('currval') || this.#words.has('lastval');
  }

  uses(words: ReadonlySet<string>): boolean {
    for (const word of this.#words) if (words.has(word)) return true;
    return false;
  }

  get mayChangeSession(): boolean {
    return this.isObscure || this.uses(sessionWords) || (this.#words.has('set') && this.#hasSetCommand());
  }

  /** Whether a `set` may be the command (`set app.tenant = …`) instead of a part of an update. */
  #hasSetCommand(): boolean {
    // A backslash may escape a quote, which would end the string too early.
    if (this.#text.includes("\\'")) return true;
    const code = this.#text
      .replaceAll(literals, ' ')
      .replaceAll(/<<.*?>>/gs, ';')
      .toLowerCase();
    return (
      code.includes('*/') || code.split(/;|\b(?:begin|then|else|loop)\b/).some((command) => /^(?!.*\bupdate\b).*\bset\b/s.test(command))
    );
  }
}

export function isWord(name: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_$]*$/u.test(name);
}

/** PostgreSQL cuts names off after 63 bytes. */
function isTooLong(name: string): boolean {
  return Buffer.byteLength(name) > 63;
}

/**
 * The text without strings and comments, which often have the name of a claim that is also that of a function; or as it is, if it is not
 * certain where they end. Strings in dollars may be code.
 */
function withoutStrings(text: string): string {
  if (text.includes("\\'") || text.includes('/*')) return text;
  return text.replaceAll(literals, (literal) => (/^['-]/.test(literal) ? ' ' : literal));
}

const literals = /--[^\n]*|\/\*.*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([\p{L}_][\p{L}\p{N}_]*)?\$.*?\$\1\$/gsu;
