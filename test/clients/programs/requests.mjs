/** Clients without a cache of rows: graphql-request, the headers of supabase-js, and TanStack Query with pages. */
import assert from 'node:assert/strict';
import { InfiniteQueryObserver, MutationObserver, QueryClient } from '@tanstack/query-core';
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

// An optimistic update is seen, then stays or is taken back.
const updateNote = `mutation Update($id: BigInt!, $body: String!) {
  updateNoteCollection(filter: { id: { eq: $id } }, set: { body: $body }) { records { id body } }
}`;
/** The pages with another body in one of their rows. */
const withBody = (data, id, body) => JSON.parse(JSON.stringify(data), (_key, value) => (value?.id === id ? { ...value, body } : value));
const update = new MutationObserver(queries, {
  mutationFn: (variables) => client.request(updateNote, variables),
  onMutate: async ({ id, body }) => {
    await queries.cancelQueries({ queryKey: ['notes'] });
    const before = queries.getQueryData(['notes']);
    queries.setQueryData(['notes'], (data) => withBody(data, id, body));
    return { before };
  },
  onError: (_error, _variables, { before }) => queries.setQueryData(['notes'], before),
});
const seen = [];
const stop = notes.subscribe(({ data }) => seen.push(data.pages[0].noteCollection.edges[0].node.body));
const { id } = noteCollection.edges[0].node;
await update.mutate({ id, body: 'aleph' });
await assert.rejects(update.mutate({ id, body: null }));
await notes.refetch();
await update.mutate({ id, body: 'alpha' });
stop();
assert.deepEqual(
  seen.filter((body, index) => body !== seen[index - 1]),
  ['alpha', 'aleph', null, 'aleph', 'alpha'],
);
queries.clear();
