/**
 * Columns that the role cannot select although it can use their table: key columns, without which no row can be read, and columns that it
 * can write.
 */
import type { Column, Table } from '../model/model.ts';
import { qualifiedName } from '../model/object-names.ts';
import { type Examination, inWords } from './examination.ts';
import { type Finding, finding } from './report.ts';

export function findHiddenColumns(examination: Examination): Finding[] {
  const readable = examination.model.tables.filter(({ selectable }) => selectable);
  return readable.flatMap((table) => [...hiddenKey(examination, table), ...writeOnly(examination, table)]);
}

/** Every query needs the key, which orders and identifies rows. */
function hiddenKey(examination: Examination, table: Table): Finding[] {
  const hidden = table.primaryKey.filter(({ selectable }) => !selectable);
  if (hidden.length === 0) return [];
  const names = inWords(hidden.map(({ name }) => name));
  const message = `${examination.model.role} cannot select its key column${hidden.length > 1 ? 's' : ''} ${names}, so every query for its rows fails; grant select on the key`;
  const remedy = grant(examination, table, hidden);
  return [finding('key-not-selectable', table.kind, qualifiedName(table.schema, table.name), message, { remedy })];
}

function writeOnly(examination: Examination, table: Table): Finding[] {
  return table.columns.flatMap((column) => {
    if (column.selectable || (!column.insertable && !column.updatable)) return [];
    const verbs = inWords([...(column.insertable ? ['insert'] : []), ...(column.updatable ? ['update'] : [])]);
    const message = `${examination.model.role} can ${verbs} but not select it, so it is missing from rows and filters; if the role should read it, grant select on it`;
    const name = qualifiedName(qualifiedName(table.schema, table.name), column.name);
    return [finding('write-only-column', 'column', name, message, { remedy: grant(examination, table, [column]) })];
  });
}

function grant(examination: Examination, { id }: Table, columns: readonly Column[]): string | null {
  const source = examination.catalog.tables.find((table) => table.id === id);
  if (!source) return null;
  const names = columns.map(({ name }) => examination.quote(name)).join(', ');
  return `grant select (${names}) on table ${examination.tableSql(source)} to ${examination.roleSql};`;
}
