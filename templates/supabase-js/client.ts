/** The client of the API for a Supabase project. supabase-js signs users in and renews their tokens; it has no GraphQL client of its own. */
import { createClient } from '@supabase/supabase-js';
import { GraphQLClient } from 'graphql-request';

const url = process.env.GRAPHQL_URL ?? '';
/** The publishable key, or the anonymous one. */
const apiKey = process.env.ANON_KEY ?? '';

export const supabase = createClient(process.env.SUPABASE_URL ?? '', apiKey);

/** `fetch` with the key, and with the user's token if somebody is signed in. If it is refused, it is renewed and tried once more. */
const fetchAsUser: typeof fetch = async (input, init) => {
  const send = async (token: string | undefined): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set('apikey', apiKey);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const { data } = await supabase.auth.getSession();
  const response = await send(data.session?.access_token);
  if (response.status !== 401 || data.session === null) return response;
  const { data: renewed } = await supabase.auth.refreshSession();
  return send(renewed.session?.access_token);
};

export const client = new GraphQLClient(url, { fetch: fetchAsUser });
