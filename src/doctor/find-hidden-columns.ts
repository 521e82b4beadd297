/** Columns that the role lacks the right to select although it may use their table: keys, without which no row is read, and columns that it may write. */
import type { Column, Table } from '../model/model.ts';
import { qualifiedName } from '../model/object-names.ts';
import { type Examination, inWords } from './examination.ts';
import { type Finding, finding } from './report.ts';

/** The findings of all tables of the API. */
export function findHiddenColumns(examination: Examination): Finding[] {
  return examination.model.tables.flatMap((table) => [...hiddenKey(examination, table), ...writeOnly(examination, table)]);
}

/** Rows are ordered and identified by their key, whatever is selected. */
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
