/** Enums whose values decide what the SQL is, and so are not values to bind: a mark in their `extensions`. */
import type { GraphQLEnumType } from 'graphql';

const mark = 'rowgraphChoice';

/** The `extensions` of such an enum. */
export const asChoice = { extensions: { [mark]: true } };

/** Whether an enum is one of them. */
export function isChoiceType({ extensions }: GraphQLEnumType): boolean {
  return extensions[mark] === true;
}
