/** Builds the columns of a table, with their types, names and grants, and its keys. */
import type { CatalogColumn } from '../../catalog/catalog.ts';
import { type BuildContext, Excluded, type Mutable, type Notes, notGranted, privilegesOn } from '../build-context.ts';
import { readDescription, readDirective } from '../directives.ts';
import type { Arbiter, Column, Table } from '../model.ts';
import { columnNameOf, enumValueNames, isFreeName, numbered, qualifiedName, whyAdapted } from '../naming/names.ts';
import { hasOwnNames, isLookupKey } from './column-uses.ts';
import type { LazyTable } from './lazy-table.ts';
import { measuredColumnOf } from './measured-column.ts';
import { isComparable, isNamed, whyOutOfReach } from './type-access.ts';
import { columnTypeOf, isInsertable, isOrderable, isUpdatable, typeWith } from './value-types.ts';

interface BuiltColumns extends Pick<Table, 'primaryKey' | 'uniqueKeys'> {
  readonly columns: readonly Mutable<Column>[];
}

export function buildColumns(context: BuildContext, table: LazyTable, notes: Notes): BuiltColumns {
  const { catalogTable, key } = table.traits;
  const all = catalogTable.columns.map((column) => buildColumn(context, table, column));
  const columns = usableColumns(context, table, all, notes);
  const primaryKey = (key ?? []).flatMap((column) => all[catalogTable.columns.indexOf(column)] ?? []);
  return { columns: withWholes(columns), primaryKey, uniqueKeys: uniqueKeysOf(table, primaryKey, all, columns) };
}

/** Adds the whole JSON of each column with a shape, to be read and filtered as other JSON. */
function withWholes(columns: Mutable<Column>[]): Mutable<Column>[] {
  const wholes = columns.flatMap((column): Mutable<Column>[] => {
    if (column.shape === null) return [];
    const name = numbered(`${column.fieldName}JSON`, (other) => columns.every(({ fieldName }) => fieldName !== other));
    const names = { fieldName: name, rowFieldName: name, filterName: name };
    return [{ ...column, ...names, shape: null, insertable: false, updatable: false }];
  });
  return [...columns, ...wholes];
}

export function hasLookup(context: BuildContext, table: LazyTable): boolean {
  // The arguments of a lookup cannot be null.
  if (table.keyTakesNulls) return false;
  const key = (table.traits.key ?? []).map((column) => buildColumn(context, table, column));
  // These names are not final, but renaming a key column that shares its name with a non-key column makes no difference: its new name is
  // unique and legal.
  return isLookupKey(hasOwnNames(key) ? key : table.primaryKey);
}

/**
 * The primary key first (of a constraint, a directive or inferred), then the unique indexes over all rows. Only keys whose columns all have
 * names.
 */
function uniqueKeysOf(
  { traits: { catalogTable } }: LazyTable,
  primaryKey: readonly Column[],
  columns: readonly Column[],
  usable: readonly Column[],
): Column[][] {
  const ofIndexes = catalogTable.indexes
    .filter(({ unique }) => unique)
    .map((index) => index.columns.flatMap((number) => columns[catalogTable.columns.findIndex((column) => column.number === number)] ?? []));
  const keys = primaryKey.length > 0 ? [[...primaryKey], ...ofIndexes] : ofIndexes;
  const readable = keys.filter((key) => key.length > 0 && key.every((column) => isUsableInKey(column) && usable.includes(column)));
  const isSame = (one: readonly Column[], other: readonly Column[]) =>
    one.length === other.length && one.every((column) => other.includes(column));
  return readable.filter((key, index) => readable.findIndex((other) => isSame(other, key)) === index);
}

function isUsableInKey({ selectable, comparable, type }: Column): boolean {
  return selectable && comparable && isNamed(type);
}

function buildColumn(context: BuildContext, { traits }: LazyTable, column: CatalogColumn): Mutable<Column> {
  const { catalogTable, additions } = traits;
  const grants = privilegesOn(context, catalogTable, column);
  const type = typeWith(context, additions, column.typeId, columnTypeOf(context, column));
  const catalogType = context.catalog.types.get(column.typeId);
  const comparable = catalogType === undefined || isComparable(context, catalogType);
  const indexes = catalogTable.indexes.filter(({ columns, movesNulls }) => columns[0] === column.number && movesNulls !== null);
  const fieldName = columnNameOf(traits, column).name;
  return {
    name: column.name,
    fieldName,
    rowFieldName: fieldName,
    filterName: fieldName,
    description: readDescription(readDirective(column.comment)),
    type,
    notNull: column.notNull,
    refusesNull: column.refusesNull,
    leadsIndex: indexes.length > 0,
    indexMovesNulls: indexes.length > 0 && indexes.every(({ movesNulls }) => movesNulls === true),
    measured: measuredColumnOf(context, column, additions),
    comparable,
    orderable: comparable && isOrderable(context, column, type),
    selectable: grants.select,
    insertable: grants.insert && isInsertable(context, column, additions),
    required:
      context.settings.requiredInputs && column.refusesNull && !column.automatic && !column.hasDefault && !catalogTable.fillsColumns,
    updatable: grants.update && isUpdatable(context, column, additions),
    shape: context.shapes.get(catalogTable.id)?.get(column.number) ?? null,
    nullByDefault: (catalogTable.kind === 'r' || catalogTable.kind === 'p') && !column.automatic && !column.hasDefault,
  };
}

/**
 * The columns that fields and inputs can have, each with its own name. If several share a name, the last keeps it, as in pg_graphql, but
 * not from one whose name is not adapted.
 */
function usableColumns(context: BuildContext, table: LazyTable, columns: readonly Mutable<Column>[], notes: Notes): Mutable<Column>[] {
  const tableName = qualifiedName(table.schema, table.name);
  const usable = columns.filter((column) => {
    const why = whyUnusable(context, table.id, column) ?? whyNoField(column);
    if (why) notes.exclusions.push({ object: 'column', id: table.id, name: qualifiedName(tableName, column.name), ...why });
    // Some columns have no field but can still order rows.
    return !why || (why.cause === 'unsupported-type' && column.orderable);
  });
  const adapted = new Set(
    columns.filter((_, index) => columnNameOf(table.traits, table.traits.catalogTable.columns[index]!).origin === 'adapted'),
  );
  const inOrder = usable.toSorted((one, other) => Number(adapted.has(other)) - Number(adapted.has(one)));
  for (const [index, column] of columns.entries()) {
    const type = context.catalog.types.get(table.traits.catalogTable.columns[index]!.typeId);
    const why = type && column.selectable && usable.includes(column) ? whyOutOfReach(context, type) : undefined;
    if (why) notes.exclusions.push({ object: 'column', id: table.id, name: qualifiedName(tableName, column.name), ...why });
  }
  const owners = new Map(inOrder.map((column) => [column.fieldName, column]));
  for (const column of usable) {
    const { fieldName } = column;
    const owner = owners.get(fieldName);
    if (!owner || owner === column) continue;
    const other = numbered(`${fieldName}Column`, (name) => !owners.has(name));
    owners.set(other, column);
    column.fieldName = column.rowFieldName = column.filterName = other;
    const reason = `the column ${owner.name} already has the name "${fieldName}", so this one is called "${other}"; ${rename}`;
    notes.renamings.push({ object: 'column', id: table.id, name: qualifiedName(tableName, column.name), reason });
  }
  for (const column of usable.filter((each) => adapted.has(each))) {
    const reason = whyAdapted(column.name, column.fieldName, rename);
    notes.renamings.push({ object: 'column', id: table.id, name: qualifiedName(tableName, column.name), reason });
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

/** Builds the arbiters of a table, if it is insertable and has the addition. Their names do not depend on the role. */
export function buildArbiters(context: BuildContext, { traits }: LazyTable): Arbiter[] {
  const { catalogTable, key, insertable, additions } = traits;
  if (key === null || !insertable || !additions.has('onConflict')) return [];
  const names = enumValueNames(catalogTable.arbiters.map(({ name }) => name));
  const readable = new Map(
    catalogTable.columns.filter((column) => privilegesOn(context, catalogTable, column).select).map((each) => [each.number, each]),
  );
  return catalogTable.arbiters.flatMap(({ name, columns, inference }, position): Arbiter[] => {
    const read = columns.flatMap((number) => readable.get(number)?.name ?? []);
    if (read.length < columns.length) return [];
    const target = inference ? ({ kind: 'index', ...inference } as const) : ({ kind: 'constraint', name, columns: read } as const);
    return [{ valueName: names[position]!, description: describe(inference?.elements ?? read, inference?.condition ?? null), target }];
  });
}

function describe(elements: readonly string[], condition: string | null): string {
  return `The rows are unique by ${elements.join(', ')}${condition === null ? '' : ` where ${condition}`}`;
}
