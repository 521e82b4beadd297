/** The client of the API, which sends the key and the token of whoever is signed in, and `graphql`, which infers the types of documents. */
import { initGraphQLTada } from 'gql.tada';
import { GraphQLClient } from 'graphql-request';
import type { introspection } from './graphql-env.d.ts';
import { fetchAsUser, url } from './session.ts';

export const client = new GraphQLClient(url, { fetch: fetchAsUser });

/** The scalars of rowgraph, which would be `unknown`. */
interface Scalars {
  BigInt: string;
  BigFloat: string;
  JSON: string;
  UUID: string;
  Date: string;
  Time: string;
  Datetime: string;
  Opaque: unknown;
  Cursor: string;
}

export const graphql = initGraphQLTada<{ introspection: introspection; scalars: Scalars }>();
