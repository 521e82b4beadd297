/** Input types whose values decide more than what is bound: directions, null tests, cursors, nodeIds. */
import { GraphQLID, type GraphQLInputType } from 'graphql';
import { filterIs } from '../schema/filter-types.ts';
import { cursorScalar } from '../schema/scalars.ts';
import { orderByDirection } from '../schema/table-types.ts';

/** A value that decides what the SQL is. */
export function isChoice(type: GraphQLInputType): boolean {
  return type === orderByDirection || type === filterIs;
}

export function isCursor(type: GraphQLInputType): boolean {
  return type === cursorScalar;
}

export function isNodeId(type: GraphQLInputType): boolean {
  return type === GraphQLID;
}
