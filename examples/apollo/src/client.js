import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';

const { VITE_GRAPHQL_URL: uri, VITE_ANON_KEY: apiKey, VITE_TOKEN: token } = import.meta.env;

export const client = new ApolloClient({
  link: new HttpLink({ uri, headers: { apiKey, authorization: `Bearer ${token}` } }),
  cache: new InMemoryCache({
    // Rows are told apart by nodeId, whatever their keys are.
    dataIdFromObject: ({ __typename, nodeId }) => nodeId && `${__typename}:${nodeId}`,
    typePolicies: { Query: { fields: { sightingCollection: relayStylePagination(['filter', 'orderBy']) } } },
  }),
});
