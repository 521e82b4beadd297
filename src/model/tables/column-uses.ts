/** What columns can be used for: groups of rows, by them or by those of to-one related rows; lookups by key; distinct rows; and upserts. */
import type { Column, Relation, Table } from '../model.ts';
import { enumValueNames, isFreeName } from '../naming/names.ts';
import { identifies, isJson } from '../types/named-types.ts';

/** Whether rows can be grouped by the whole of the column: one with a shape has another for that. */
export function isGroupable({ type, orderable, selectable, shape }: Column): boolean {
  if (!selectable || !orderable || shape !== null) return false;
  return type.kind === 'enum' || (type.kind === 'scalar' && !type.unordered);
}

/** Whether rows can be ordered and grouped by what is at a path of the column. */
export function hasJsonPaths({ type, selectable, shape }: Column, { additions }: Pick<Table, 'additions'>): boolean {
  return selectable && shape === null && isJson(type) && additions.has('json');
}

/** Whether rows can be ordered by the column, by what is at a path of it, or by a member. */
export function isOrdered(column: Column, table: Pick<Table, 'additions'>): boolean {
  const { selectable, orderable } = column;
  if (!selectable || orderable || hasJsonPaths(column, table)) return selectable;
  return (membersOf(column, table)?.composite?.orderName ?? null) !== null;
}

/** The type of the values of a column, which are composite, or JSON with the shape of an object; undefined if they have no members. */
export function membersOf({ type, shape, comparable }: Column, { additions }: Pick<Table, 'additions'>): Table | undefined {
  if (shape !== null) return shape.isList ? undefined : shape.table;
  return type.kind === 'row' && comparable && additions.has('composites') ? type.table : undefined;
}

/** The type of the values of a column whose members rows can be grouped by; undefined without any. */
export function groupedMembers(column: Column, table: Pick<Table, 'additions'>): Table | undefined {
  const members = membersOf(column, table);
  return column.selectable && members?.composite?.groupNames && hasKeys(members) ? members : undefined;
}

/** Whether rows can be grouped by any of the columns, or by what is in one. */
export function hasKeys({ columns, additions }: Pick<Table, 'columns' | 'additions'>): boolean {
  return columns.some((column) => isKey(column, { additions }));
}

/** Whether rows can be grouped by the column, or by what is in it. */
function isKey(column: Column, table: Pick<Table, 'additions'>): boolean {
  return isGroupable(column) || hasJsonPaths(column, table) || groupedMembers(column, table) !== undefined;
}

/** The name under which rows are ordered and grouped by a path of the column: another one if its own is for the column as a whole (`isWhole`). */
export function pathName(name: string, isWhole: boolean): string {
  return isWhole ? `${name}Path` : name;
}

/** The name under which rows are ordered by a member of the column, likewise. */
export function membersName(name: string, isWhole: boolean): string {
  return isWhole ? `${name}Members` : name;
}

export function hasGroups({ aggregate, additions, columns }: Table): boolean {
  return aggregate && additions.has('groups') && columns.some(isGroupable);
}

export function hasBuckets(column: Column): boolean {
  const { type } = column;
  return isGroupable(column) && type.kind === 'scalar' && type.traits.number?.ranges != null;
}

export function groupableRelations({ relations }: Table): readonly Relation[] {
  return relations.filter(
    ({ kind, onlyInRows, target }) =>
      kind === 'to-one' && !onlyInRows && target.additions.has('groups') && target.columns.some(isGroupable),
  );
}

/**
 * The member that says which percentile is meant, among columns in conditions and orders of groups. A column with this name is left out
 * there.
 */
export const fractionMember = 'fraction';

export function clashesWithFraction({ columns, additions }: Table): boolean {
  const hasPercentiles = ({ type }: Column): boolean => type.kind === 'scalar' && type.traits.aggregates.percentile !== undefined;
  return (
    additions.has('moreAggregates') &&
    columns.some((column) => column.selectable && column.fieldName === fractionMember && hasPercentiles(column))
  );
}

/** The member that holds the columns to group by range. A column or relation with this name prevents it. */
export const bucketMember = 'bucket';

export function clashesWithBuckets(table: Table, relations: readonly Relation[] = groupableRelations(table)): boolean {
  return (
    table.columns.some((column) => column.rowFieldName === bucketMember && isKey(column, table)) ||
    relations.some(({ fieldName }) => fieldName === bucketMember)
  );
}

/** Whether rows can be grouped by ranges of a column of the table. */
export function hasRanges(table: Table, relations?: readonly Relation[]): boolean {
  return table.columns.some(hasBuckets) && !clashesWithBuckets(table, relations);
}

/** Whether every key column is a scalar comparable for equality, with a unique and legal name. */
export function isLookupKey(key: readonly Pick<Column, 'fieldName' | 'type' | 'comparable'>[]): boolean {
  return (
    hasOwnNames(key) &&
    key.every(({ type, fieldName, comparable }) => {
      return comparable && identifies(type) && isFreeName(fieldName);
    })
  );
}

export function hasOwnNames(columns: readonly Pick<Column, 'fieldName'>[]): boolean {
  return new Set(columns.map(({ fieldName }) => fieldName)).size === columns.length;
}

/** The columns that `distinctOn` can name, by the values of its enum; empty without the addition. */
export function distinctColumns({ columns, additions }: Pick<Table, 'columns' | 'additions'>): ReadonlyMap<string, Column> {
  return asEnumValues(additions.has('distinctOn') ? columns.filter(isGroupable) : []);
}

/** The columns whose snippets rows can show, by the values of their enum. */
export function snippetColumns({ search }: Pick<Table, 'search'>): ReadonlyMap<string, Column> {
  return asEnumValues(search?.shown ?? []);
}

/** The role must also be able to select them, because PostgreSQL reads their values from `excluded`. */
export function conflictColumns({ columns }: Pick<Table, 'columns'>): ReadonlyMap<string, Column> {
  return asEnumValues(columns.filter(({ selectable, insertable, updatable }) => selectable && insertable && updatable));
}

function asEnumValues(columns: readonly Column[]): ReadonlyMap<string, Column> {
  const names = enumValueNames(columns.map(({ fieldName }) => fieldName));
  return new Map(columns.map((column, position) => [names[position]!, column]));
}
