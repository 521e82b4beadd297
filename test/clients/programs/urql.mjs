/** urql with graphcache: its defaults, keys of all types, pages, a mutation that reaches the cache, and persisted queries. */
import assert from 'node:assert/strict';
import { Client, fetchExchange, gql } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { persistedExchange } from '@urql/exchange-persisted';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { headers, url } from './settings.mjs';

const warnings = [];
console.warn = (...words) => warnings.push(words.join(' '));
const sent = [];
const watched = (address, options) => {
  sent.push(options.method);
  return fetch(address, options);
};
const introspection = introspectionFromSchema(buildSchema(process.env.SDL));

// Rows have nodeId. Connections, edges, and rows without a key belong to the object that they are in.
const keys = Object.fromEntries(
  introspection.__schema.types
    .filter(({ kind }) => kind === 'OBJECT')
    .map(({ name, interfaces }) => [name, interfaces.length > 0 ? ({ nodeId }) => nodeId ?? null : () => null]),
);
const cache = cacheExchange({ schema: introspection, keys, resolvers: { Query: { noteCollection: relayPagination() } } });
const client = new Client({ url, fetch: watched, fetchOptions: { headers }, exchanges: [cache, fetchExchange] });

const notes = gql`
  query Notes($after: Cursor) {
    noteCollection(first: 2, after: $after, orderBy: [{ body: AscNullsLast }]) {
      edges { cursor node { nodeId id text: body summary { id text } tagCollection { edges { node { nodeId name } } } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`;
let after;
let answer;
do {
  answer = await client.query(notes, { after }).toPromise();
  assert.equal(answer.error, undefined);
  after = answer.data.noteCollection.pageInfo.endCursor;
} while (answer.data.noteCollection.pageInfo.hasNextPage);
const rows = answer.data.noteCollection.edges.map(({ node }) => node);
assert.deepEqual(
  rows.map(({ text, summary }) => [text, summary.text]),
  ['alpha', 'beta', 'delta', 'epsilon', 'gamma'].map((text) => [text, `of ${text}`]),
);
assert.deepEqual(sent, ['GET', 'GET', 'GET']);

// A mutation changes the row in the cache, and nothing is asked again.
const [{ nodeId }] = rows;
const update = gql`mutation ($id: ID!) { updateNoteCollection(filter: { nodeId: { eq: $id } }, set: { body: "aleph" }) { records { nodeId body } } }`;
assert.equal((await client.mutation(update, { id: nodeId }).toPromise()).error, undefined);
const again = client.readQuery(notes, { after: undefined });
assert.equal(again.data.noteCollection.edges[0].node.text, 'aleph');
assert.deepEqual(sent, ['GET', 'GET', 'GET', 'POST']);
assert.deepEqual(warnings, []);

const failed = await client.query(gql`{ noteCollection(first: -1) { edges { node { nodeId } } } }`, {}).toPromise();
assert.deepEqual(
  [failed.error.graphQLErrors[0].path, failed.error.graphQLErrors[0].extensions.code],
  [['noteCollection'], 'BAD_USER_INPUT'],
);

// By its hash, once the server knows it.
const persisted = persistedExchange({ preferGetForPersistedQueries: true });
const hashing = new Client({ url, fetch: watched, fetchOptions: { headers }, exchanges: [persisted, fetchExchange] });
const count = gql`query Count { noteCollection { totalCount } }`;
for (const requests of [2, 1]) {
  sent.length = 0;
  assert.equal((await hashing.query(count, {}, { requestPolicy: 'network-only' }).toPromise()).data.noteCollection.totalCount, 5);
  assert.equal(sent.length, requests);
}
