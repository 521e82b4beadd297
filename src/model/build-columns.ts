/** The columns of the visible tables, with their types, names and grants, and the columns of their keys. */
import type { CatalogColumn } from '../catalog/catalog.ts';
import { readDescription, readDirective, readName } from './directives.ts';
import { type Draft, privilegesOn, qualifiedName, type TableDraft } from './draft.ts';
import type { Column } from './model.ts';
import { columnFieldName, isLegalName } from './names.ts';
import { columnTypeOf, isOrderable, isWritable } from './value-types.ts';

/** Fills the columns and keys of the tables of the draft. */
export function addColumns(draft: Draft): void {
  for (const tableDraft of draft.tables.values()) {
    const { source, table, key } = tableDraft;
    const columns = source.columns.map((column) => buildColumn(draft, tableDraft, column));
    table.columns = usableColumns(draft, tableDraft, columns);
    table.primaryKey = key.flatMap((column) => columns[source.columns.indexOf(column)] ?? []);
  }
}

function buildColumn(draft: Draft, { source, schema }: TableDraft, column: CatalogColumn): Column {
  const directive = readDirective(column.comment);
  const grants = privilegesOn(draft, source, column);
  const type = columnTypeOf(draft, column);
  const writable = !column.automatic && isWritable(draft, column);
  return {
    name: column.name,
    fieldName: readName(directive, 'name') ?? columnFieldName(column.name, schema.inflection),
    description: readDescription(directive),
    type,
    notNull: column.notNull,
    orderable: isOrderable(draft, column, type),
    selectable: grants.select,
    insertable: writable && grants.insert,
    updatable: writable && grants.update,
  };
}

/** The columns that a field or an input can be made of. Of two with one name the later keeps it, as in the reference. */
function usableColumns(draft: Draft, { table }: TableDraft, columns: readonly Column[]): Column[] {
  const byField = new Map<string, Column>();
  const omit = (column: Column, reason: string) =>
    draft.omissions.push({ object: 'column', name: `${qualifiedName(table.schema, table.name)}.${column.name}`, reason });
  for (const column of columns) {
    const reason = whyOmitted(draft, column);
    if (reason !== undefined) {
      omit(column, reason);
      continue;
    }
    const earlier = byField.get(column.fieldName);
    if (earlier) omit(earlier, `the column ${column.name} has the name "${column.fieldName}" too: ${rename}`);
    // Deleted first, so that the fields stay in the order of the columns.
    byField.delete(column.fieldName);
    byField.set(column.fieldName, column);
  }
  return [...byField.values()];
}

const rename = 'give it another name with the comment directive {"name": "..."}';

function whyOmitted(draft: Draft, column: Column): string | undefined {
  const { fieldName, type } = column;
  if (!column.selectable && !column.insertable && !column.updatable) {
    return `the role ${draft.privileges.role} may neither select nor write it: grant select, insert or update on it to the role`;
  }
  if (!isLegalName(fieldName)) return `"${fieldName}" is no GraphQL name: ${rename}`;
  if (fieldName === 'nodeId' || fieldName === '__typename') return `the name "${fieldName}" is that of another field: ${rename}`;
  if (type.kind !== 'unsupported' || column.orderable) return undefined;
  return 'its type has no GraphQL type: show its parts by a computed field or a view';
}
