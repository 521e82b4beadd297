/** The client of the API. It sends the key, and the token of whoever is signed in. */
import { GraphQLClient } from 'graphql-request';
import { fetchAsUser, url } from './session.ts';

export const client = new GraphQLClient(url, { fetch: fetchAsUser });
