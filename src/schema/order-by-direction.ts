/** The enum of sort directions. */
import { GraphQLEnumType } from 'graphql';
import type { SharedTypeName } from '../model/graphql-names.ts';

export const orderByDirection = new GraphQLEnumType({
  name: 'OrderByDirection' satisfies SharedTypeName,
  description: 'Defines a per-field sorting order',
  values: {
    AscNullsFirst: { description: 'Ascending order, nulls first' },
    AscNullsLast: { description: 'Ascending order, nulls last' },
    DescNullsFirst: { description: 'Descending order, nulls first' },
    DescNullsLast: { description: 'Descending order, nulls last' },
  },
});
