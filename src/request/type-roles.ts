/**
 * Recognizes input types whose values affect more than bind values: directions, null tests, constraints and columns of `onConflict`,
 * cursors, nodeIds.
 */
import { GraphQLID, type GraphQLInputType, isEnumType } from 'graphql';
import { isChoiceType } from '../schema/choices.ts';
import { filterIs } from '../schema/filter-types.ts';
import { orderByDirection } from '../schema/order-by-direction.ts';
import { cursorScalar } from '../schema/scalars.ts';

/** Whether the values of the type change the SQL. */
export function isChoice(type: GraphQLInputType): boolean {
  return type === orderByDirection || type === filterIs || (isEnumType(type) && isChoiceType(type));
}

export function isCursor(type: GraphQLInputType): boolean {
  return type === cursorScalar;
}

export function isNodeId(type: GraphQLInputType): boolean {
  return type === GraphQLID;
}
