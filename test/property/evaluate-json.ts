/** What filters, fields, orders and groups say of JSON columns. Paths of the SQL/JSON language are PostgreSQL's; all else is computed here. */

import type { jsonValueTypes } from './column-types.ts';
import { areEqual, contains, hasKey, isNumber, type Json, jsonText, parseJson, partAt } from './json-documents.ts';
import { RefusalError, UnknownAnswerError } from './property-failure.ts';
import { quoteLiteral } from './schema-sql.ts';
import type { Truth } from './truth.ts';
import type { ValueOracle } from './value-oracle.ts';

type Text = string | null;
type Test = (json: Json, operand: unknown) => boolean;

/** A value in documents, as orders and groups name it. */
export interface JsonValueKey {
  readonly path: readonly string[];
  readonly as?: keyof typeof jsonValueTypes;
}

const tests: Readonly<Record<string, Test>> = {
  contains: (json, operand) => contains(json, parseJson(operand as string)),
  containedBy: (json, operand) => contains(parseJson(operand as string), json),
  eq: (json, operand) => areEqual(json, parseJson(operand as string)),
  hasKey: (json, operand) => hasKey(json, operand as string),
  hasAnyKey: (json, operand) => (operand as string[]).some((key) => hasKey(json, key)),
  hasAllKeys: (json, operand) => (operand as string[]).every((key) => hasKey(json, key)),
};

/** What documents answer to an operator other than `is`, whose operand is not null. */
export async function compareJson(oracle: ValueOracle, texts: readonly Text[], operator: string, operand: unknown): Promise<Truth[]> {
  if (operator === 'matches') return compareMatches(oracle, texts, operand as { readonly path: string; readonly vars?: string | null });
  return texts.map((text) => (text === null ? null : tests[operator]!(parseJson(text), operand)));
}

/** Which rows are looked at until one of them fails is for PostgreSQL to say. */
async function compareMatches(
  oracle: ValueOracle,
  texts: readonly Text[],
  { path, vars = null }: { readonly path: string; readonly vars?: string | null },
): Promise<Truth[]> {
  const found =
    vars === null
      ? `value::jsonb @? ${quoteLiteral(path)}`
      : `jsonb_path_exists(value::jsonb, ${quoteLiteral(path)}, ${quoteLiteral(vars)}, true)`;
  try {
    return (await oracle.list(texts, found)) as Truth[];
  } catch (error) {
    throw new UnknownAnswerError((error as Error).message);
  }
}

/** The text of what is at a path of a document. */
export function partText(text: string, path: readonly string[]): Text {
  if (path.length === 0) return text.trim();
  const part = partAt(parseJson(text), path);
  return part === undefined ? null : jsonText(part);
}

/** What is at a path of a document, as text that PostgreSQL reads as a value of the type; null if it is none. */
export function valueAt(text: Text, { path, as = 'TEXT' }: JsonValueKey): Text {
  if (path.length === 0) throw new RefusalError('a path without keys');
  return valueAs(text === null ? undefined : partAt(parseJson(text), path), as);
}

/** A part of a document as such text. */
export function valueAs(part: Json | undefined, as: keyof typeof jsonValueTypes): Text {
  if (part === undefined || part === null) return null;
  const plain = typeof part === 'string' ? part : jsonText(part);
  const isOfType = {
    TEXT: () => true,
    NUMBER: () => isNumber(part),
    BOOLEAN: () => typeof part === 'boolean',
    DATE: () => isDay(plain),
    DATETIME: () => isMoment(plain),
  }[as];
  return isOfType() ? plain : null;
}

const timeOfDay = /^([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/;

/** Whether a text is a point in time as ISO 8601 writes it. */
export function isMoment(text: string): boolean {
  return isDay(text.slice(0, 10)) && timeOfDay.test(text.slice(10));
}

/** Whether a text is a day of the calendar as ISO 8601 writes it. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) && !text.startsWith('0000') ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
