/** Values of inputs as SQL that one would write by hand. */

import type { Column } from '../../src/model/model.ts';
import { baseOf, isJson } from './column-types.ts';
import { inputText } from './compare-values.ts';
import { changedDocument, type Json, type JsonChange, jsonText, parseJson } from './json-documents.ts';
import { type LoadedRow, type LoadedTable, partOfColumn, valueOf } from './loaded-tables.ts';
import { RefusalError } from './property-failure.ts';
import { boundedColumn } from './range-values.ts';
import { columnOf } from './schema-description.ts';
import { quoteIdentifier, quoteLiteral } from './schema-sql.ts';
import { documentWith, shapedText } from './shapes.ts';

/** The fields with what is added to each. */
export function incremented(increment: unknown): readonly [field: string, value: unknown][] {
  return Object.entries((increment ?? {}) as Record<string, unknown>).filter(([, value]) => value !== null);
}

/** Assignments that add to columns. */
export function additions(table: LoadedTable, added: ReturnType<typeof incremented>, scope: string): string[] {
  return added.map(([field, value]) => {
    const name = columnName(table, field);
    const own = baseOf(columnOf(table.description, name).type).sql.replace(/\(.*/, '');
    // What is added to a date or a point in time is an interval.
    const type = /^(date|timestamp)/.test(own) ? 'interval' : own;
    return `${quoteIdentifier(name)} = ${scope}${quoteIdentifier(name)} + ${quoteLiteral(String(value))}::${type}`;
  });
}

/** A change of the documents of a column: what it leaves of one, also of SQL's null; undefined where PostgreSQL fails. */
interface PartChange {
  readonly column: string;
  readonly apply: (json: Json | null) => Json | null | undefined;
  /** Whether SQL's null stays null. */
  readonly keepsNull: boolean;
}

/** What is to change in documents, by their parts or by objects of their shapes. */
export function changedParts(table: LoadedTable, json: unknown): readonly PartChange[] {
  return Object.entries((json ?? {}) as Record<string, unknown>).flatMap(([field, value]): PartChange[] => {
    if (value === null) return [];
    const own = table.names.columns.find(({ fieldName, name }) => fieldName === field && isJson(columnOf(table.description, name).type));
    if (!own) {
      const shaped = table.names.columns.find(({ shape, fieldName }) => shape && `${fieldName}Shape` === field)!;
      const { type } = partOfColumn(table, shaped);
      const given = parseJson(shapedText(table.world, type, value));
      return [{ column: shaped.name, apply: (document) => documentWith(document, type, given), keepsNull: false }];
    }
    const change = value as JsonChange;
    const hasItems = (list: readonly unknown[] | null | undefined) => (list?.length ?? 0) > 0;
    const isNew = (change.merge ?? null) !== null || hasItems(change.setPath);
    if (!isNew && !hasItems(change.removePath)) return [];
    // From SQL's null, nothing can be removed.
    return [{ column: own.name, apply: (document) => changedDocument(document, change), keepsNull: !isNew }];
  });
}

/** Assignments of documents to rows: what becomes of each is computed here. An array that has no key fails for its row alone. */
export function partAssignments(changes: readonly PartChange[], rows: readonly LoadedRow[], isRow: (row: LoadedRow) => string): string[] {
  return changes.map(({ column, apply, keepsNull }) => {
    const cases = rows.map((row) => {
      const { text } = valueOf(row, column);
      if (text === null && keepsNull) return `when ${isRow(row)} then null::jsonb`;
      const json = apply(parseJson(text ?? 'null'));
      const failing = `jsonb_set('[]', array[${quoteIdentifier(column)}::text || 'a'], '0')`;
      return `when ${isRow(row)} then ${json === undefined ? failing : `${quoteLiteral(jsonText(json))}::jsonb`}`;
    });
    return `${quoteIdentifier(column)} = ${cases.length > 0 ? `case ${cases.join(' ')} end` : 'null'}`;
  });
}

/** The column whose shape a field of an input has. */
function shapedColumn({ names }: LoadedTable, field: string): Column | undefined {
  if (names.columns.some(({ fieldName }) => fieldName === field)) return undefined;
  return names.columns.find((column) => column.shape && `${column.fieldName}Shape` === field);
}

/** The column of a field. */
export function columnName(table: LoadedTable, field: string): string {
  const own = table.names.columns.find(({ fieldName }) => fieldName === field)?.name;
  return own ?? shapedColumn(table, field)?.name ?? boundedColumn(table, field, 'fieldName')!;
}

/** The values of an input by column, each of which is given once. */
export function columnValues(table: LoadedTable, object: Readonly<Record<string, unknown>>): Map<string, string> {
  const values = new Map<string, string>();
  for (const [field, value] of Object.entries(object)) {
    const column = columnName(table, field);
    if (values.has(column)) throw new RefusalError('A column is given twice.');
    values.set(column, literal(table, field, value));
  }
  return values;
}

/** A value of a field, with its type. */
export function literal(table: LoadedTable, field: string, value: unknown): string {
  const shaped = shapedColumn(table, field);
  const { type } = columnOf(table.description, columnName(table, field));
  if (shaped && value !== null) return `${quoteLiteral(shapedText(table.world, partOfColumn(table, shaped).type, value))}::${type.sql}`;
  if (type.maxLength !== null && typeof value === 'string' && [...value].length > type.maxLength) throw new RefusalError('too long');
  // What a domain checks, it checks for each row.
  return value === null ? 'null' : `${quoteLiteral(inputText(table.world, type, value))}::${baseOf(type).sql}`;
}
