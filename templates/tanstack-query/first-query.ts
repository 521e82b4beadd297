import { client, queries } from './client.ts';
import { graphql } from './gql/gql.ts';

const document = graphql(`
  query First {
    noteCollection(first: 3) { edges { node { id body } } }
  }
`);

/** For `useQuery` as well. `signal` cancels the request, also in PostgreSQL, when nobody needs it any longer. */
export const firstOptions = {
  queryKey: ['first'],
  queryFn: ({ signal }: { signal: AbortSignal }) => client.request({ document, signal }),
};

export async function firstQuery() {
  return queries.fetchQuery(firstOptions);
}
