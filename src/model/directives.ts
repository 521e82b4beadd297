/**
 * Comment directives: what `@graphql({...})` inside a comment says. A comment goes in, a plain object comes out; the functions below read
 * its members. Nothing here throws: invalid directives have no effect, and `check-directives.ts` reports them.
 */
import { isJsonObject } from '../json-object.ts';

/** The object of a directive; empty if a comment has none. */
export type Directive = Readonly<Record<string, unknown>>;

const nothing: Directive = {};
const opening = '@graphql(';

/** What a comment contains: no directive, a valid one, or a broken one and why. */
export type ParsedDirective =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'broken'; readonly problem: string };

/** Reads the first directive of a comment. It ends with the parenthesis after its JSON; the rest is prose. */
export function parseDirective(comment: string): ParsedDirective {
  const start = comment.indexOf(opening);
  if (start < 0) return { kind: 'none' };
  const text = directiveText(comment.slice(start + opening.length));
  if (text === undefined) return { kind: 'broken', problem: 'no parenthesis closes it' };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch (error) {
    return { kind: 'broken', problem: (error as Error).message };
  }
}

/** The text before the first closing parenthesis that is neither in a string nor inside brackets. */
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

/** A name that a directive gives (`name`, `local_name`, `foreign_name`): any scalar as text; null if it gives none. */
export function readName(directive: Directive, key: string): string | null {
  const value = directive[key];
  if (value === undefined || value === null || typeof value === 'object') return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The description; only text describes. */
export function readDescription({ description }: Directive): string | null {
  return typeof description === 'string' ? description : null;
}

/** Whether a directive like `{"totalCount": {"enabled": true}}` enables something. */
export function readEnabled(directive: Directive, key: string): boolean {
  const value = directive[key];
  return isJsonObject(value) && (value['enabled'] === true || value['enabled'] === 'true');
}

const maxInteger = 2147483647;

/** `max_rows`, a number or its text, as PostgreSQL reads an integer; null if there is none, or none that a page could have. */
export function readMaxRows(directive: Directive): number | null {
  const text = readName(directive, 'max_rows');
  if (text === null || !/^\s*[-+]?\d+\s*$/.test(text)) return null;
  const value = Number(text);
  return value < 0 || value > maxInteger ? null : value;
}

/** `primary_key_columns`; undefined if there are none or they are no list of names. */
export function readKeyColumns(directive: Directive): readonly string[] | undefined {
  return readNames(directive['primary_key_columns']);
}

/** A foreign key that a directive declares. */
export interface DeclaredForeignKey {
  readonly localColumns: readonly string[];
  readonly foreignSchema: string;
  readonly foreignTable: string;
  readonly foreignColumns: readonly string[];
  /** The directive itself, which may name the fields. */
  readonly directive: Directive;
}

/** `foreign_keys`: each entry, or undefined in its place where it is incomplete. */
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

/** `mappings` of an enum: GraphQL names by label. */
export function readMappings({ mappings }: Directive): ReadonlyMap<string, string> {
  if (!isJsonObject(mappings)) return new Map();
  return new Map(Object.entries(mappings).flatMap(([label, name]) => (typeof name === 'string' ? [[label, name]] : [])));
}

function readNames(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string') ? value : undefined;
}
