import { fetchQuery, graphql } from 'relay-runtime';
import type { firstQuery as FirstQuery } from './__generated__/firstQuery.graphql.ts';
import { environment } from './client.ts';

const query = graphql`
  query firstQuery {
    noteCollection(first: 3) { edges { node { id body } } }
  }
`;

export async function firstQuery() {
  return fetchQuery<FirstQuery>(environment, query, {}).toPromise();
}
