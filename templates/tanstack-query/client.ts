/** The client of the API, which sends the key and the token of whoever is signed in, and the cache of what was fetched. */
import { QueryClient } from '@tanstack/query-core';
import { GraphQLClient } from 'graphql-request';
import { fetchAsUser, url } from './session.ts';

export const client = new GraphQLClient(url, { fetch: fetchAsUser });

/** A server, which renders pages for many users, asks each time. */
const staleTime = 'window' in globalThis ? 60_000 : 0;
export const queries = new QueryClient({ defaultOptions: { queries: { staleTime } } });
