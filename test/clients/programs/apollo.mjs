/** Apollo Client 3 and 4: a normalised cache, pages, optimistic mutations, persisted queries, GET, batches and errors. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import * as core4 from '@apollo/client';
import * as batch4 from '@apollo/client/link/batch-http';
import * as persisted4 from '@apollo/client/link/persisted-queries';
import * as utilities4 from '@apollo/client/utilities';
import { headers, url } from './settings.mjs';

const sha256 = (text) => createHash('sha256').update(text).digest('hex');
// Version 3 is made of CommonJS modules as far as Node is concerned.
const require = createRequire(import.meta.url);
const persisted3 = require('apollo3/link/persisted-queries');
const version3 = { ...require('apollo3/core'), ...require('apollo3/link/batch-http'), ...require('apollo3/utilities') };
const versions = [
  { ...version3, persist: (options) => persisted3.createPersistedQueryLink(options) },
  { ...core4, ...batch4, ...utilities4, persist: (options) => new persisted4.PersistedQueryLink(options) },
];

for (const { ApolloClient, BatchHttpLink, gql, HttpLink, InMemoryCache, persist, relayStylePagination } of versions) {
  const methods = [];
  const watched = (address, options) => {
    methods.push(options.method);
    return fetch(address, options);
  };
  const link = new HttpLink({ uri: url, headers, fetch: watched });
  const cacheOptions = {
    // Rows without a key have no identifier, whatever their columns are called.
    dataIdFromObject: ({ __typename, nodeId }) => nodeId && `${__typename}:${nodeId}`,
    typePolicies: {
      Query: { fields: { noteCollection: relayStylePagination(['filter', 'orderBy']) } },
      Note: { fields: { tagCollection: relayStylePagination() } },
    },
  };
  const cache = new InMemoryCache(cacheOptions);
  const client = new ApolloClient({ link, cache });

  // All pages, merged by the cache.
  const query = gql`
    query Notes($after: Cursor) {
      noteCollection(first: 2, after: $after, orderBy: [{ body: AscNullsLast }]) {
        edges { cursor node { nodeId id body summary { id text } tagCollection { edges { node { nodeId name } } } } }
        pageInfo { hasNextPage endCursor hasPreviousPage startCursor }
      }
    }
  `;
  const notes = client.watchQuery({ query });
  let { noteCollection } = (await client.query({ query })).data;
  while (noteCollection.pageInfo.hasNextPage) {
    await notes.fetchMore({ variables: { after: noteCollection.pageInfo.endCursor } });
    ({ noteCollection } = cache.readQuery({ query }));
  }
  const rows = noteCollection.edges.map(({ node }) => node);
  assert.deepEqual(
    rows.map(({ body }) => body),
    ['alpha', 'beta', 'delta', 'epsilon', 'gamma'],
  );
  assert.deepEqual(
    rows.map(({ summary }) => summary.text),
    ['of alpha', 'of beta', 'of delta', 'of epsilon', 'of gamma'],
  );
  assert.deepEqual(
    rows.slice(0, 2).map(({ id }) => id),
    ['9007199254740993', '9007199254740992'],
  );
  // Each row once: bigint keys are told apart, and rows of composite keys are rows.
  const stored = Object.keys(cache.extract()).filter((key) => /^(Note|Tag|Summary):/.test(key));
  assert.deepEqual([stored.filter((key) => key.startsWith('Note:')).length, stored.filter((key) => key.startsWith('Tag:')).length], [5, 3]);
  assert.equal(
    stored.some((key) => key.startsWith('Summary:')),
    false,
  );

  // By an alias, the row is the same one, where keyFields name what identifies it.
  const keyed = new InMemoryCache({ typePolicies: { Tag: { keyFields: ['noteId', 'name'] }, Note: { keyFields: ['nodeId'] } } });
  keyed.writeQuery({
    query: gql`{ tagCollection { edges { node { note: noteId noteId label: name name } } } noteCollection { edges { node { key: nodeId nodeId } } } }`,
    data: (
      await client.query({
        query: gql`{ tagCollection { edges { node { note: noteId noteId label: name name } } } noteCollection { edges { node { key: nodeId nodeId } } } }`,
        fetchPolicy: 'no-cache',
      })
    ).data,
  });
  assert.ok('Tag:{"noteId":"9007199254740993","name":"a"}' in keyed.extract());

  // An optimistic value is seen, then the real one; a failed one is taken back.
  const [{ nodeId }] = rows;
  const one = gql`query One($id: ID!) { node(nodeId: $id) { nodeId ... on Note { body } } }`;
  const update = gql`mutation Update($id: ID!, $body: String) { updateNoteCollection(filter: { nodeId: { eq: $id } }, set: { body: $body }) { records { nodeId body } } }`;
  await client.query({ query: one, variables: { id: nodeId } });
  const seen = [];
  const stop = cache.watch({
    query: one,
    variables: { id: nodeId },
    optimistic: true,
    callback: ({ result }) => seen.push(result.node.body),
  });
  const optimistic = (body) => ({
    updateNoteCollection: { __typename: 'NoteUpdateResponse', records: [{ __typename: 'Note', nodeId, body }] },
  });
  await client.mutate({ mutation: update, variables: { id: nodeId, body: 'aleph' }, optimisticResponse: optimistic('soon') });
  await assert.rejects(client.mutate({ mutation: update, variables: { id: nodeId, body: null }, optimisticResponse: optimistic('never') }));
  stop();
  assert.deepEqual(
    seen.filter((body, index) => body !== seen[index - 1]),
    ['soon', 'aleph', 'never', 'aleph'],
  );
  await client.mutate({ mutation: update, variables: { id: nodeId, body: 'alpha' } });

  // Errors say where.
  const wrong = await client.query({
    query: gql`{ all: noteCollection(first: -1) { edges { node { body } } } }`,
    errorPolicy: 'all',
    fetchPolicy: 'no-cache',
  });
  const [error] = wrong.errors ?? wrong.error.errors;
  assert.deepEqual([error.path, error.extensions.code], [['all'], 'BAD_USER_INPUT']);

  // GET for queries; the hash alone once it is known, with GET too; several operations in one request.
  const count = gql`query Count { noteCollection { totalCount } }`;
  const ask = async (through, times = 1) => {
    methods.length = 0;
    const other = new ApolloClient({ link: through, cache: new InMemoryCache() });
    const answers = await Promise.all(
      Array.from({ length: times }, () => other.query({ query: count, fetchPolicy: 'no-cache', context: { queryDeduplication: false } })),
    );
    for (const { data } of answers) assert.equal(data.noteCollection.totalCount, 5);
    return methods.join(' ');
  };
  assert.equal(await ask(new HttpLink({ uri: url, headers, fetch: watched, useGETForQueries: true })), 'GET');
  const hashed = persist({ sha256, useGETForHashedQueries: true }).concat(link);
  const first = await ask(hashed);
  assert.ok(['GET POST', 'GET GET', 'GET'].includes(first), first);
  assert.equal(await ask(hashed), 'GET');
  assert.equal(await ask(new BatchHttpLink({ uri: url, headers, fetch: watched, batchMax: 3, batchInterval: 500 }), 3), 'POST');
  client.stop();
}
