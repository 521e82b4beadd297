/** Marks enums whose values change the SQL, so they are not bind values. */
import type { GraphQLEnumType } from 'graphql';

const mark = 'rowgraphChoice';

export const asChoice = { extensions: { [mark]: true } };

export function isChoiceType({ extensions }: GraphQLEnumType): boolean {
  return extensions[mark] === true;
}
