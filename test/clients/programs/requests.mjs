/** Clients without a cache of rows: graphql-request, the headers of supabase-js, and TanStack Query with pages. */
import assert from 'node:assert/strict';
import { InfiniteQueryObserver, QueryClient } from '@tanstack/query-core';
import { ClientError, GraphQLClient } from 'graphql-request';
import { headers, url } from './settings.mjs';

const client = new GraphQLClient(url, { headers: { apiKey: headers.apiKey } });
const notesQuery = `query Notes($after: Cursor) {
  noteCollection(first: 2, after: $after, orderBy: [{ body: AscNullsLast }]) { edges { node { id body } } pageInfo { hasNextPage endCursor } }
}`;
const { noteCollection } = await client.request(notesQuery);
assert.deepEqual(noteCollection.edges[0].node, { id: '9007199254740993', body: 'alpha' });
const [one, two] = await client.batchRequests([
  { document: '{ a: __typename }' },
  { document: notesQuery, variables: { after: noteCollection.pageInfo.endCursor } },
]);
assert.deepEqual([one.data, two.data.noteCollection.edges[0].node.body], [{ a: 'Query' }, 'delta']);
const error = await client.request('{ noteCollection(first: -1) { edges { node { id } } } }').catch((caught) => caught);
assert.ok(error instanceof ClientError);
assert.deepEqual([error.response.errors[0].path, error.response.errors[0].extensions.code], [['noteCollection'], 'BAD_USER_INPUT']);

// supabase-js sends its key twice, and as the bearer the user's token once there is one.
const { apiKey } = headers;
const asSupabase = new GraphQLClient(url, {
  headers: { apikey: apiKey, Authorization: `Bearer ${apiKey}`, 'X-Client-Info': 'supabase-js-web/2.0.0' },
});
assert.equal((await asSupabase.request('{ authorCollection { edges { node { name } } } }')).authorCollection.edges[0].node.name, 'Ada');

// Pages, each by the cursor that ends the one before it.
const queries = new QueryClient();
const notes = new InfiniteQueryObserver(queries, {
  queryKey: ['notes'],
  queryFn: ({ pageParam, signal }) => client.request({ document: notesQuery, variables: { after: pageParam }, signal }),
  initialPageParam: null,
  getNextPageParam: ({ noteCollection: { pageInfo } }) => (pageInfo.hasNextPage ? pageInfo.endCursor : undefined),
});
let result = await notes.refetch();
while (result.hasNextPage) result = await notes.fetchNextPage();
assert.deepEqual(
  result.data.pages.flatMap((page) => page.noteCollection.edges.map(({ node }) => node.body)),
  ['alpha', 'beta', 'delta', 'epsilon', 'gamma'],
);
queries.clear();
