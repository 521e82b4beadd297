/** Reads the key in a nodeId. */
import { ApiError } from '../errors/api-error.ts';
import type { Column, Table } from '../model/model.ts';
import type { InputValue } from '../request/input-value.ts';
import { type ElementParameter, keyParameter } from './parameters.ts';

/**
 * Returns the key columns of the table with their values in the nodeId. Throws BAD_USER_INPUT if the nodeId, which is in `argument`, is not
 * one of this table.
 */
export function keyOfNodeId(id: InputValue, table: Table, argument: string): { column: Column; parameter: ElementParameter }[] {
  if (id?.kind !== 'identifier') throw new ApiError('BAD_USER_INPUT', `Expected a nodeId in the argument "${argument}".`);
  if (id.schema !== table.schema || id.table !== table.name) {
    throw new ApiError('BAD_USER_INPUT', `The nodeId in the argument "${argument}" does not identify a record of type ${table.typeName}.`);
  }
  if (id.elements.length !== table.primaryKey.length) {
    throw new ApiError('BAD_USER_INPUT', `The nodeId in the argument "${argument}" does not contain the key of type ${table.typeName}.`);
  }
  return table.primaryKey.map((column, index) => ({ column, parameter: keyParameter(id.elements[index] ?? null, column.type, argument) }));
}
