/**
 * Comment directives: `@graphql({...})` inside a comment. `readDirective` turns a comment into a plain object, whose members the functions
 * below read. Nothing here throws: invalid directives have no effect, and `check-directives.ts` reports them.
 */
import { isJsonObject } from '../errors/api-error.ts';

/** The JSON object of a directive; empty if there is none. */
export type Directive = Readonly<Record<string, unknown>>;

const nothing: Directive = {};
const opening = '@graphql(';
/** What is meant to be one. */
const misspelled = /@graphql(?:\s+\(|\()/i;

/** The result of parsing a comment: no directive, valid JSON, or a broken directive and why. */
type ParsedDirective =
  | { readonly kind: 'none' }
  /** `rest`: the prose after it. */
  | { readonly kind: 'json'; readonly value: unknown; readonly rest: string }
  | { readonly kind: 'broken'; readonly problem: string };

/** Parses the first directive of a comment. The directive ends at the parenthesis that closes it; the rest is prose. */
export function parseDirective(comment: string): ParsedDirective {
  const start = comment.indexOf(opening);
  if (start < 0) return { kind: 'none' };
  const text = directiveText(comment.slice(start + opening.length));
  if (text === undefined) return { kind: 'broken', problem: 'no parenthesis closes it' };
  try {
    return { kind: 'json', value: JSON.parse(text), rest: comment.slice(start + opening.length + text.length) };
  } catch (error) {
    return { kind: 'broken', problem: (error as Error).message };
  }
}

/** Whether a text without a directive has what is meant to be one, such as `@GraphQL({…})`. */
export function hasMisspelled(text: string): boolean {
  return misspelled.test(text);
}

/** The text before the first closing parenthesis outside strings and brackets. */
function directiveText(text: string): string | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{})]/gs)) {
    if (token === ')' && depth === 0) return text.slice(0, index);
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
  }
  return undefined;
}

/** The directive of a comment; empty if it is not a JSON object. */
export function readDirective(comment: string | null): Directive {
  if (comment === null) return nothing;
  const parsed = parseDirective(comment);
  return parsed.kind === 'json' && isJsonObject(parsed.value) ? parsed.value : nothing;
}

/** A name (`name`, `local_name`, `foreign_name`): any scalar as text, or null. */
export function readName(directive: Directive, key: string): string | null {
  const value = directive[key];
  if (value === undefined || value === null || typeof value === 'object') return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The description, if it is a string. */
export function readDescription({ description }: Directive): string | null {
  return typeof description === 'string' ? description : null;
}

/** Whether the directive has a member like `{"totalCount": {"enabled": true}}`. */
export function readEnabled(directive: Directive, key: string): boolean {
  const value = directive[key];
  return isJsonObject(value) && (value['enabled'] === true || value['enabled'] === 'true');
}

/** Rows per page, unless a directive sets `max_rows`. */
export const defaultMaxRows = 30;

const maxInteger = 2147483647;

/** How far ancestors and descendants go, unless a directive sets `max_depth`. */
export const defaultMaxDepth = 100;

/**
 * `max_rows` or `max_depth`: a number or a string that PostgreSQL reads as an integer; null if missing or not a valid number of rows.
 */
export function readMaximum(directive: Directive, member: 'max_rows' | 'max_depth'): number | null {
  const text = readName(directive, member);
  if (text === null || !/^\s*[-+]?\d+\s*$/.test(text)) return null;
  const value = Number(text);
  return value < 0 || value > maxInteger ? null : value;
}

/** The shortest and the longest time of `live.refresh`, in seconds. */
const refreshes = { shortest: 0.1, longest: 86_400 };

/** `{"live": {"refresh": 5}}`: how often to evaluate subscriptions whatever changes, in milliseconds; null if missing or not such a time. */
export function readLiveRefresh({ live }: Directive): number | null {
  const seconds = isJsonObject(live) ? live['refresh'] : undefined;
  return typeof seconds === 'number' && seconds >= refreshes.shortest && seconds <= refreshes.longest ? seconds * 1000 : null;
}

/** `primary_key_columns`; undefined if missing or not a list of names. */
export function readKeyColumns(directive: Directive): readonly string[] | undefined {
  return readNames(directive['primary_key_columns']);
}

export interface DeclaredForeignKey {
  readonly localColumns: readonly string[];
  readonly foreignSchema: string;
  readonly foreignTable: string;
  readonly foreignColumns: readonly string[];
  /** The entry itself, which may name the fields. */
  readonly directive: Directive;
}

/** `foreign_keys`: one item per entry, undefined if the entry is incomplete. */
export function readForeignKeys({ foreign_keys: entries }: Directive): readonly (DeclaredForeignKey | undefined)[] {
  return Array.isArray(entries) ? entries.map(readForeignKey) : [];
}

function readForeignKey(entry: unknown): DeclaredForeignKey | undefined {
  if (!isJsonObject(entry)) return undefined;
  const localColumns = readNames(entry['local_columns']);
  const foreignColumns = readNames(entry['foreign_columns']);
  const { foreign_schema: foreignSchema, foreign_table: foreignTable } = entry;
  if (!localColumns || localColumns.length !== foreignColumns?.length) return undefined;
  if (typeof foreignSchema !== 'string' || typeof foreignTable !== 'string') return undefined;
  return { localColumns, foreignSchema, foreignTable, foreignColumns, directive: entry };
}

/** How a table is searched: by a column of type tsvector, or by the words of columns, each with its weight. */
export interface DeclaredSearch {
  readonly column: string | null;
  readonly columns: readonly (readonly [name: string, weight: SearchWeight])[];
  readonly config: string | null;
}
export type SearchWeight = 'A' | 'B' | 'C' | 'D';

/**
 * `search` of a table: `{"columns": {"title": "A"}, "config": "english"}`, `{"column": "words"}` or `{"config": "english"}`; undefined if
 * missing or wrong.
 */
export function readSearch({ search }: Directive): DeclaredSearch | undefined {
  if (!isJsonObject(search)) return undefined;
  const { column = null, columns = [], config = null, ...others } = search;
  const names = Array.isArray(columns)
    ? columns.map((name): [unknown, unknown] => [name, 'D'])
    : isJsonObject(columns) && Object.entries(columns);
  if (!names || !isTextOrNull(column) || !isTextOrNull(config) || Object.keys(others).length > 0) return undefined;
  const isEmpty = column === null && names.length === 0 && (config === null || 'columns' in search);
  if (isEmpty || (column !== null && names.length > 0)) return undefined;
  const weighted = names.flatMap(([name, weight]) => (typeof name === 'string' && isWeight(weight) ? [[name, weight] as const] : []));
  return weighted.length === names.length ? { column, columns: weighted, config } : undefined;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isWeight(value: unknown): value is SearchWeight {
  return value === 'A' || value === 'B' || value === 'C' || value === 'D';
}

/** `mappings` of an enum: GraphQL names by label. */
export function readMappings({ mappings }: Directive): ReadonlyMap<string, string> {
  if (!isJsonObject(mappings)) return new Map();
  return new Map(Object.entries(mappings).flatMap(([label, name]) => (typeof name === 'string' ? [[label, name]] : [])));
}

function readNames(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string') ? value : undefined;
}
