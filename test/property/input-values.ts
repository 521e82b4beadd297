/** Values of inputs as SQL that one would write by hand. */

import type { Column } from '../../src/model/model.ts';
import { baseOf } from './column-types.ts';
import { inputText } from './compare-values.ts';
import { changedDocument, type JsonChange, jsonText, parseJson } from './json-documents.ts';
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

/** The fields with what is to change in the document of each: parts, or members of its shape. */
export function changedParts(table: LoadedTable, json: unknown): readonly [field: string, change: JsonChange][] {
  return Object.entries((json ?? {}) as Record<string, JsonChange | null>).filter((entry): entry is [string, JsonChange] => {
    const [field, change] = entry;
    if (change === null || shapedColumn(table, field)) return change !== null;
    return (change.merge ?? null) !== null || [change.removePath, change.setPath].some((list) => list && list.length > 0);
  });
}

/** Assignments of documents to rows: what becomes of each is computed here. An array that has no key fails for its row alone. */
export function partAssignments(
  table: LoadedTable,
  changes: ReturnType<typeof changedParts>,
  rows: readonly LoadedRow[],
  isRow: (row: LoadedRow) => string,
): string[] {
  return changes.map(([field, change]) => {
    const name = columnName(table, field);
    const shaped = shapedColumn(table, field);
    const cases = rows.map((row) => {
      const { text } = valueOf(row, name);
      if (shaped) {
        const { type } = partOfColumn(table, shaped);
        const json = documentWith(parseJson(text ?? 'null'), type, parseJson(shapedText(table.world, type, change)));
        return `when ${isRow(row)} then ${quoteLiteral(jsonText(json))}::jsonb`;
      }
      // From SQL's null, nothing can be removed.
      if (text === null && (change.merge ?? null) === null && !change.setPath?.length) return `when ${isRow(row)} then null::jsonb`;
      const json = changedDocument(parseJson(text ?? 'null'), change);
      const failing = `jsonb_set('[]', array[${quoteIdentifier(name)}::text || 'a'], '0')`;
      return `when ${isRow(row)} then ${json === undefined ? failing : `${quoteLiteral(jsonText(json))}::jsonb`}`;
    });
    return `${quoteIdentifier(name)} = ${cases.length > 0 ? `case ${cases.join(' ')} end` : 'null'}`;
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
