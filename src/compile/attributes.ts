/**
 * The members of a value as the columns of a row: the attributes of a composite type, `(t1."address")."city"`, or the members of JSON with a
 * shape, `(t1."details" ->> 'city')`. What in JSON is not as the shape says is null, so that no document makes a statement fail.
 */
import type { Column, ColumnShape, Table } from '../model/model.ts';
import { as } from '../sql/clauses.ts';
import { builtIn, identifier, literal, type Sql, sql, trusted } from '../sql/sql.ts';
import { directScope, type Scope } from './scope.ts';
import { asJsonb, jsonAs } from './values/json-values.ts';

/** The members of a value of the column. */
export function memberScope(alias: string, value: Sql, column: Column): Scope {
  if (column.shape) return shapeScope(alias, asJsonb(value, column.type), column.shape.table);
  return { ...directScope(alias, { keepsNotNull: false, row: value }), column: (name) => sql`(${value}).${identifier(name)}` };
}

/** The members of an element of an array of the column. */
export function elementScope(alias: string, element: Sql, { shape, ...column }: Column): Scope {
  return shape ? shapeScope(alias, element, shape.table) : memberScope(alias, element, { ...column, shape });
}

/** The members of an object in jsonb. */
export function shapeScope(alias: string, value: Sql, { columns }: Table): Scope {
  const row = sql`(case when ${isOf(value, 'object')} then ${value} end)`;
  const member = (name: string): Sql => {
    const column = columns.find((each) => each.name === name);
    const key = literal(name);
    if (column === undefined) throw new Error(`The shape has no member ${name}.`);
    return jsonAs(sql`(${value} -> ${key})`, sql`(${value} ->> ${key})`, column.type);
  };
  // The scope reads its own columns.
  const scope: Scope = directScope(alias, { keepsNotNull: false, row });
  return Object.assign(scope, { column: member });
}

/** A value of jsonb that has members: the array or object of the shape; null for anything else. */
export function shapedValue(value: Sql, column: Column, { isList }: ColumnShape): Sql {
  const json = asJsonb(value, column.type);
  return sql`(case when ${isOf(json, isList ? 'array' : 'object')} then ${json} end)`;
}

/** The elements of an array of the column as a FROM item with the column `element`, and the array, which is null if there is none. */
export function elementsOf(value: Sql, column: Column, alias: string): { readonly array: Sql; readonly from: Sql } {
  const { shape } = column;
  const array = shape ? shapedValue(value, column, shape) : value;
  // In FROM, `unnest` would make a row of nulls of a null element.
  const elements = builtIn(shape ? 'jsonb_array_elements' : 'unnest', array);
  return { array, from: as(sql`(select ${elements} as ${identifier('element')})`, alias) };
}

function isOf(json: Sql, type: 'object' | 'array'): Sql {
  return sql`${builtIn('jsonb_typeof', json)} = ${trusted(`'${type}'`)}`;
}
