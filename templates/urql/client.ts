/** The client of the API. It sends the key, and the token of whoever is signed in. */
import { Client, cacheExchange, fetchExchange } from '@urql/core';
import { fetchAsUser, url } from './session.ts';

export const client = new Client({
  url,
  fetch: fetchAsUser,
  exchanges: [cacheExchange, fetchExchange],
  // A server, which renders pages for many users, asks each time.
  requestPolicy: 'window' in globalThis ? 'cache-first' : 'network-only',
});
