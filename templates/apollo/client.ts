/** The client of the API. It sends the key, and the token of whoever is signed in. */
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { fetchAsUser, url } from './session.ts';

export const client = new ApolloClient({
  link: new HttpLink({ uri: url, fetch: fetchAsUser }),
  cache: new InMemoryCache({
    // The cache knows a row by its nodeId, wherever a query selects it. Rows without a key have none.
    dataIdFromObject: ({ __typename, nodeId }) => (nodeId ? `${__typename}:${nodeId}` : undefined),
  }),
  // A server, which renders pages for many users, asks each time.
  defaultOptions: { query: { fetchPolicy: 'window' in globalThis ? 'cache-first' : 'no-cache' } },
});
