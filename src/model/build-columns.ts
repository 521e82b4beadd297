/** The columns of the visible tables, with their types, names and grants, and the columns of their keys. */
import type { CatalogColumn } from '../catalog/catalog.ts';
import { type BuildContext, type Mutable, privilegesOn, type TableContext } from './build-context.ts';
import { readDescription, readDirective, readName } from './directives.ts';
import { Excluded, notGranted } from './excluded.ts';
import type { Column } from './model.ts';
import { columnFieldName, isFreeName, numbered } from './names.ts';
import { qualifiedName } from './object-names.ts';
import { columnTypeOf, isOrderable, isWritable } from './value-types.ts';

/** Fills in the columns and keys of the context's tables. */
export function* addColumns(context: BuildContext): Generator<void, void> {
  for (const tableContext of context.tables.values()) {
    const { source, table, key } = tableContext;
    const columns = source.columns.map((column) => buildColumn(context, tableContext, column));
    table.columns = usableColumns(context, tableContext, columns);
    table.primaryKey = (key ?? []).flatMap((column) => columns[source.columns.indexOf(column)] ?? []);
    table.uniqueKeys = uniqueKeysOf(tableContext, columns, table.columns);
    yield;
  }
}

/** Those of indexes over all rows, then that of a directive or what is inferred of a view. Only columns that have names can be given. */
function uniqueKeysOf({ source, table }: TableContext, columns: readonly Column[], usable: readonly Column[]): Column[][] {
  const ofIndexes = source.indexes
    .filter(({ unique }) => unique)
    .map((index) => index.columns.flatMap((number) => columns[source.columns.findIndex((column) => column.number === number)] ?? []));
  const keys = table.primaryKey.length > 0 ? [[...table.primaryKey], ...ofIndexes] : ofIndexes;
  const readable = keys.filter((key) => key.length > 0 && key.every((column) => column.selectable && usable.includes(column)));
  const isSame = (one: readonly Column[], other: readonly Column[]) =>
    one.length === other.length && one.every((column) => other.includes(column));
  return readable.filter((key, index) => readable.findIndex((other) => isSame(other, key)) === index);
}

function buildColumn(context: BuildContext, { source, schema }: TableContext, column: CatalogColumn): Mutable<Column> {
  const directive = readDirective(column.comment);
  const grants = privilegesOn(context, source, column);
  const type = columnTypeOf(context, column);
  const writable = !column.automatic && isWritable(context, column);
  const indexes = source.indexes.filter(({ columns, movesNulls }) => columns[0] === column.number && movesNulls !== null);
  const fieldName = readName(directive, 'name') ?? columnFieldName(column.name, schema.inflection);
  return {
    name: column.name,
    fieldName,
    rowFieldName: fieldName,
    filterName: fieldName,
    description: readDescription(directive),
    type,
    notNull: column.notNull,
    leadsIndex: indexes.length > 0,
    indexMovesNulls: indexes.length > 0 && indexes.every(({ movesNulls }) => movesNulls === true),
    orderable: isOrderable(context, column, type),
    selectable: grants.select,
    insertable: writable && grants.insert,
    required: context.settings.requiredInputs && column.refusesNull && !column.hasDefault && !source.fillsColumns,
    updatable: writable && grants.update,
    nullByDefault: (source.kind === 'r' || source.kind === 'p') && !column.automatic && !column.hasDefault,
  };
}

/** The columns that a field or an input can be made of, each with a name of its own: of several with one the last keeps it, as in pg_graphql. */
function usableColumns(context: BuildContext, { table }: TableContext, columns: readonly Mutable<Column>[]): Column[] {
  const tableName = qualifiedName(table.schema, table.name);
  const usable = columns.filter((column) => {
    const why = whyUnusable(context, table.id, column) ?? whyNoField(column);
    if (why) context.exclusions.push({ object: 'column', id: table.id, name: qualifiedName(tableName, column.name), ...why });
    // Rows can be ordered by some columns that they do not show.
    return !why || (why.cause === 'unsupported-type' && column.orderable);
  });
  const owners = new Map(usable.map((column) => [column.fieldName, column]));
  for (const column of usable) {
    const { fieldName } = column;
    const owner = owners.get(fieldName);
    if (!owner || owner === column) continue;
    const other = numbered(`${fieldName}Column`, (name) => !owners.has(name));
    owners.set(other, column);
    column.fieldName = column.rowFieldName = column.filterName = other;
    const reason = `the column ${owner.name} already has the name "${fieldName}", so this one is called "${other}"; ${rename}`;
    context.renamings.push({ object: 'column', id: table.id, name: qualifiedName(tableName, column.name), reason });
  }
  return usable;
}

const rename = 'choose another name with the comment directive {"name": "..."}';

function whyUnusable({ privileges }: BuildContext, tableId: number, column: Column): Excluded | undefined {
  const { name, fieldName } = column;
  if (!column.selectable && !column.insertable && !column.updatable) {
    const reason = `the role ${privileges.role} can neither select nor write it; grant select, insert or update on it to the role`;
    return notGranted(reason, 'select', tableId, name);
  }
  if (!isFreeName(fieldName)) return new Excluded('illegal-name', `"${fieldName}" is not a valid GraphQL name; ${rename}`);
  return undefined;
}

function whyNoField({ type, orderable }: Column): Excluded | undefined {
  if (type.kind !== 'unsupported' && type.kind !== 'composite') return undefined;
  const onlyOrdered = orderable ? ', so rows can only be ordered by it' : '';
  const reason = `its type ${type.sqlType} has no GraphQL type${onlyOrdered}; expose its parts with a computed field or a view`;
  return new Excluded('unsupported-type', reason);
}
