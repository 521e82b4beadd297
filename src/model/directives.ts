/**
 * Comment directives: what `@graphql({...})` inside a comment says. A comment goes in, a plain object comes out; the keys are read by
 * the functions below. What is malformed fails as it does in the reference, where PostgreSQL itself reads the JSON.
 */
import { ApiError } from '../errors.ts';

/** The object of a directive; empty where a comment holds none. */
export type Directive = Readonly<Record<string, unknown>>;

const nothing: Directive = {};

/** The text of the directive in a comment. As in the reference its parentheses reach to the last one of the comment. */
export function directiveText(comment: string): string | undefined {
  return /@graphql\((.+)\)/s.exec(comment)?.[1];
}

/** Reads the directive of a comment. What is JSON but no object says nothing. Throws SCHEMA_ERROR where it is no JSON. */
export function readDirective(comment: string | null): Directive {
  const text = comment === null ? undefined : directiveText(comment);
  if (text === undefined) return nothing;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : nothing;
  } catch (cause) {
    throw new ApiError('SCHEMA_ERROR', 'invalid input syntax for type json', { cause });
  }
}

/** A name that a directive gives (`name`, `local_name`, `foreign_name`): any scalar as text; null where it gives none. */
export function readName(directive: Directive, key: string): string | null {
  const value = directive[key];
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The description; only text describes. */
export function readDescription({ description }: Directive): string | null {
  return typeof description === 'string' ? description : null;
}

/** Whether a directive like `{"totalCount": {"enabled": true}}` switches something on. */
export function readEnabled(directive: Directive, key: string): boolean {
  const value = directive[key];
  return isObject(value) && (value['enabled'] === true || value['enabled'] === 'true');
}

/** `max_rows`, read as PostgreSQL reads an integer; null where there is none. Throws SCHEMA_ERROR where it is no integer. */
export function readMaxRows(directive: Directive): number | null {
  const text = readName(directive, 'max_rows');
  if (text === null) return null;
  if (!/^\s*[-+]?\d+\s*$/.test(text)) throw new ApiError('SCHEMA_ERROR', `invalid input syntax for type integer: "${text}"`);
  const value = Number(text);
  if (value > 2147483647 || value < -2147483648) throw new ApiError('SCHEMA_ERROR', `value "${text}" is out of range for type integer`);
  return value < 0 ? null : value;
}

/** `primary_key_columns`; undefined where there are none or they are no list of names. */
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
  if (!isObject(entry)) return undefined;
  const localColumns = readNames(entry['local_columns']);
  const foreignColumns = readNames(entry['foreign_columns']);
  const { foreign_schema: foreignSchema, foreign_table: foreignTable } = entry;
  if (!localColumns || localColumns.length !== foreignColumns?.length) return undefined;
  if (typeof foreignSchema !== 'string' || typeof foreignTable !== 'string') return undefined;
  return { localColumns, foreignSchema, foreignTable, foreignColumns, directive: entry };
}

/** `mappings` of an enum: GraphQL names by label. */
export function readMappings({ mappings }: Directive): ReadonlyMap<string, string> {
  if (!isObject(mappings)) return new Map();
  return new Map(Object.entries(mappings).flatMap(([label, name]) => (typeof name === 'string' ? [[label, name]] : [])));
}

function readNames(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string') ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
