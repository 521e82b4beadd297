/** What input objects with related rows in them hold, and the rows and columns that these are about, in SQL. */

import { type GraphQLInputField, type GraphQLInputObjectType, getNamedType } from 'graphql';
import type { Relation } from '../../src/model/model.ts';
import { byLegalName } from './evaluate-conflict.ts';
import { columnValues } from './input-values.ts';
import { keyOf, type LoadedRow, type LoadedTable, rowsOf, valueOf, type World } from './loaded-tables.ts';
import { isOutgoing } from './nested-relations.ts';
import { RefusalError } from './property-failure.ts';
import { columnOf } from './schema-description.ts';
import { quoteIdentifier, quoteLiteral } from './schema-sql.ts';

/** An input object. */
export type Value = Readonly<Record<string, unknown>>;
/** SQL of values by column. */
export type Assigned = Map<string, string>;

/** Where a relation stands in an input object, with the type of its member. */
export interface Place {
  readonly relation: Relation;
  readonly type: GraphQLInputObjectType;
}

/** Whether a member of an input holds related rows. */
export function isOfRelation({ type }: GraphQLInputField): boolean {
  return /(Insert|Update)To(One|Many)$/.test(getNamedType(type).name);
}

/** Whether objects of a type hold related rows: null is none. */
export function holdsRelatedRows(type: GraphQLInputObjectType, objects: readonly Value[]): boolean {
  return objects.some((object) => Object.keys(object).some((name) => object[name] !== null && isOfRelation(type.getFields()[name]!)));
}

/** The members of an object that are columns. */
export function columnMembers(type: GraphQLInputObjectType, object: Value): Value {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !isOfRelation(type.getFields()[name]!)));
}

/** The members that are given: null and false are none. */
export function given(value: Value): string[] {
  return Object.keys(value).filter((name) => value[name] !== null && value[name] !== undefined && value[name] !== false);
}

/** A list, or the one value that stands for it. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** The input type of a member. */
export function memberType(type: GraphQLInputObjectType, member: string): GraphQLInputObjectType {
  const field = type.getFields()[member];
  // What is not there is never asked for.
  return (field ? getNamedType(field.type) : type) as GraphQLInputObjectType;
}

/** The relations among an input type's fields, in their order. */
export function places({ names }: LoadedTable, type: GraphQLInputObjectType): Place[] {
  return Object.values(type.getFields()).flatMap((field) => {
    const inner = getNamedType(field.type) as GraphQLInputObjectType;
    const relation = isOfRelation(field) && names.relations.find(({ fieldName }) => fieldName === field.name);
    return relation ? [{ relation, type: inner }] : [];
  });
}

/** The columns that an object gives, and those that come from above, which it must not give. */
export function assignedColumns(table: LoadedTable, type: GraphQLInputObjectType, object: Value, fromAbove: Assigned): Assigned {
  for (const { relation } of places(table, type)) {
    if (!object[relation.fieldName] || !isOutgoing(table, relation) || given(object[relation.fieldName] as Value)[0] === 'update') continue;
    const filled = table.names.columns.filter(({ name }) => relation.columns.some(({ near }) => near === name));
    if (filled.some(({ fieldName }) => Object.hasOwn(object, fieldName))) throw new RefusalError('a column beside its relation');
  }
  const assigned = columnValues(table, columnMembers(type, object));
  for (const [column, sql] of fromAbove) {
    if (assigned.has(column)) throw new RefusalError('a column beside its parent');
    assigned.set(column, sql);
  }
  return assigned;
}

/** The values of the columns that point to a row. */
export function keyTo({ columns }: Relation, row: LoadedRow): Assigned {
  return new Map(columns.map(({ near, target }) => [target, sqlOf(row, near)]));
}

/** A value of a row. */
export function sqlOf(row: LoadedRow, column: string): string {
  const { text } = valueOf(row, column);
  return text === null ? 'null' : `${quoteLiteral(text)}::${columnOf(row.table.description, column).type.sql}`;
}

/** The condition that a row is one of these. */
export function amongRows(rows: readonly LoadedRow[]): string {
  const conditions = rows.map(
    (row) =>
      `(${keyOf(row.table)
        .map(({ name }) => `${quoteIdentifier(name)} = ${sqlOf(row, name)}`)
        .join(' and ')})`,
  );
  return `(${conditions.join(' or ')})`;
}

/** What tells rows of one table apart. */
export function identity(row: LoadedRow): string {
  return JSON.stringify(keyOf(row.table).map(({ name }) => valueOf(row, name).jsonb));
}

/** A row as a world has it, if it is there. */
export function again(world: World, row: LoadedRow): LoadedRow | undefined {
  const table = world.tables.find(({ names }) => names === row.table.names)!;
  return rowsOf(table).find((other) => identity(other) === identity(row));
}

/** The column that a value of `updateColumns` is. */
export function updatedColumn({ names }: LoadedTable, value: string): string {
  const usable = names.columns.filter(({ selectable, insertable, updatable }) => selectable && insertable && updatable);
  return byLegalName(usable, ({ fieldName }) => fieldName, value).name;
}

/** The table's name in SQL. */
export function nameOf({ schemaName, description }: LoadedTable): string {
  return quoteIdentifier(schemaName, description.name);
}
