/** Input types whose values decide more than what is bound: directions, null tests, constraints and columns of a conflict, cursors, nodeIds. */
import { GraphQLID, type GraphQLInputType, isEnumType } from 'graphql';
import { isChoiceType } from '../schema/choices.ts';
import { filterIs } from '../schema/filter-types.ts';
import { orderByDirection } from '../schema/order-by-direction.ts';
import { cursorScalar } from '../schema/scalars.ts';

/** A value that decides what the SQL is. */
export function isChoice(type: GraphQLInputType): boolean {
  return type === orderByDirection || type === filterIs || (isEnumType(type) && isChoiceType(type));
}

export function isCursor(type: GraphQLInputType): boolean {
  return type === cursorScalar;
}

export function isNodeId(type: GraphQLInputType): boolean {
  return type === GraphQLID;
}
