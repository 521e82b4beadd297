/** The columns of the visible tables, with their types, names and grants, and the columns of their keys. */
import type { CatalogColumn } from '../catalog/catalog.ts';
import { readDescription, readDirective, readName } from './directives.ts';
import { type Draft, privilegesOn, type TableDraft } from './draft.ts';
import { LeftOut, notGranted } from './left-out.ts';
import type { Column } from './model.ts';
import { columnFieldName, isEnumValueName, isFreeName } from './names.ts';
import { qualifiedName } from './object-names.ts';
import { columnTypeOf, isOrderable, isWritable } from './value-types.ts';

/** Fills the columns and keys of the tables of the draft. */
export function* addColumns(draft: Draft): Generator<void, void> {
  for (const tableDraft of draft.tables.values()) {
    const { source, table, key } = tableDraft;
    const columns = source.columns.map((column) => buildColumn(draft, tableDraft, column));
    table.columns = usableColumns(draft, tableDraft, columns);
    table.primaryKey = key.flatMap((column) => columns[source.columns.indexOf(column)] ?? []);
    yield;
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
    leadsIndex: source.indexes.some(({ columns }) => columns[0] === column.number),
    orderable: isOrderable(draft, column, type),
    selectable: grants.select,
    insertable: writable && grants.insert,
    updatable: writable && grants.update,
  };
}

/** The columns that a field or an input can be made of. Of two with one name the later keeps it, as in the reference. */
function usableColumns(draft: Draft, { table }: TableDraft, columns: readonly Column[]): Column[] {
  const byField = new Map<string, Column>();
  const omit = (column: Column, why: LeftOut) =>
    draft.omissions.push({ object: 'column', id: table.id, name: `${qualifiedName(table.schema, table.name)}.${column.name}`, ...why });
  for (const column of columns) {
    const why = whyUnusable(draft, table.id, column) ?? whyNoField(column);
    if (why) omit(column, why);
    // Rows can be ordered by some columns that they do not show.
    if (why && !(why.cause === 'unsupported-type' && column.orderable)) continue;
    const earlier = byField.get(column.fieldName);
    if (earlier) omit(earlier, new LeftOut('name-taken', `the column ${column.name} has the name "${column.fieldName}" too: ${rename}`));
    // Deleted first, so that the fields stay in the order of the columns.
    byField.delete(column.fieldName);
    byField.set(column.fieldName, column);
  }
  return [...byField.values()];
}

const rename = 'give it another name with the comment directive {"name": "..."}';

function whyUnusable({ privileges }: Draft, tableId: number, column: Column): LeftOut | undefined {
  const { name, fieldName } = column;
  if (!column.selectable && !column.insertable && !column.updatable) {
    const reason = `the role ${privileges.role} may neither select nor write it: grant select, insert or update on it to the role`;
    return notGranted(reason, 'select', tableId, name);
  }
  if (!isFreeName(fieldName)) return new LeftOut('illegal-name', `"${fieldName}" is no GraphQL name: ${rename}`);
  if (fieldName === 'nodeId') {
    return new LeftOut('name-taken', `the name "${fieldName}" is that of another field: ${rename}`);
  }
  return undefined;
}

function whyNoField({ type, orderable }: Column): LeftOut | undefined {
  const onlyOrdered = orderable ? ', so that rows can only be ordered by it' : '';
  if (type.kind === 'unsupported') {
    const reason = `its type ${type.sqlType} has no GraphQL type${onlyOrdered}: show its parts by a computed field or a view`;
    return new LeftOut('unsupported-type', reason);
  }
  const element = type.kind === 'list' ? type.element : type;
  if (element.kind !== 'enum' || element.enum.values.some(({ name }) => isEnumValueName(name))) return undefined;
  const problem = `no value of its enum ${element.sqlType} has a GraphQL name${onlyOrdered}`;
  return new LeftOut('unsupported-type', `${problem}: give them names in the "mappings" of the comment directive of the enum`);
}
