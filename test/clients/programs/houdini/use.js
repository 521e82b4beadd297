/** What an app does with Houdini's runtime, without a framework: pages, pages inside a row, an optimistic update, and a list that follows inserts and deletes. */
import assert from 'node:assert/strict';
import { cursorHandlers } from 'houdini/runtime';
import addAuthor from '$houdini/artifacts/Add';
import authorsQuery from '$houdini/artifacts/Authors';
import deleteAuthor from '$houdini/artifacts/Delete';
import notesQuery from '$houdini/artifacts/Notes';
import tagsQuery from '$houdini/artifacts/Tags_Pagination_Query';
import updateNote from '$houdini/artifacts/Update';
import { HoudiniClient } from '$houdini/runtime/client';

const client = new HoudiniClient({ fetchParams: () => ({ headers: { apiKey: process.env.KEY } }) });

/** A query as the store of a framework has it: its data, each state that it had, and its pages, which are below a row if `rowOf` says which. */
async function open(artifact, variables = {}, rowOf = (data) => data) {
  const store = client.observe({ artifact });
  // It writes pages to the cache, of which the store hears.
  const pager = client.observe({ artifact });
  const query = { states: [] };
  query.stop = store.subscribe((state) => query.states.push(state));
  Object.defineProperty(query, 'data', { get: () => query.states.at(-1).data });
  query.pages = cursorHandlers({
    artifact,
    getState: () => rowOf(query.data),
    getVariables: () => variables,
    getSession: async () => ({}),
    fetch: (sent) => store.send(sent),
    fetchUpdate: (sent, applyUpdates) => pager.send({ ...sent, cacheParams: { applyUpdates, disableSubscriptions: true } }),
  });
  assert.equal((await store.send({ variables })).errors, null);
  return query;
}
const commit = (artifact, variables, optimisticResponse) => client.observe({ artifact }).send({ variables, stuff: { optimisticResponse } });

// All pages, merged by the cache.
const notes = await open(notesQuery);
const rows = () => notes.data.noteCollection.edges.map(({ node }) => node);
let requests = 1;
for (; notes.data.noteCollection.pageInfo.hasNextPage; requests += 1) await notes.pages.loadNextPage();
assert.equal(requests, 3);
assert.deepEqual(
  rows().map(({ body }) => body),
  ['alpha', 'beta', 'delta', 'epsilon', 'gamma'],
);

// Pages inside a row go on by `node`.
const [{ id: row }] = rows();
const tags = await open(tagsQuery, { id: row }, ({ node }) => node);
assert.equal(tags.data.node.tagCollection.pageInfo.hasNextPage, true);
await tags.pages.loadNextPage();
assert.deepEqual(
  tags.data.node.tagCollection.edges.map(({ node }) => node.name),
  ['a', 'b'],
);
tags.stop();

// An optimistic value is seen, then the real one; one that is refused is taken back.
const known = notes.states.length;
const optimistic = (body) => ({ updateNoteCollection: { records: [{ id: row, body }] } });
await commit(updateNote, { row, set: { body: 'aleph' } }, optimistic('soon'));
const refused = await commit(updateNote, { row, set: { body: null } }, optimistic('never')).catch((error) => error);
assert.equal(refused.errors?.[0].path?.[0] ?? refused.raw?.[0].path[0], 'updateNoteCollection');
const seen = notes.states.slice(known).map(({ data }) => data.noteCollection.edges[0].node.body);
// It shows the value from before for a moment, while it puts the real one in the place of the optimistic one.
const told = seen.filter((body) => body !== 'alpha');
assert.deepEqual(
  told.filter((body, index) => body !== told[index - 1]),
  ['soon', 'aleph', 'never', 'aleph'],
);
await commit(updateNote, { row, set: { body: 'alpha' } });

// A list follows what is inserted and deleted.
const authors = await open(authorsQuery);
const names = () => authors.data.authorCollection.edges.map(({ node }) => node.name);
await commit(addAuthor, { objects: [{ name: 'Bo' }] });
assert.deepEqual(names(), ['Ada', 'Bo']);
await commit(deleteAuthor, { row: authors.data.authorCollection.edges[1].node.id });
assert.deepEqual(
  authors.data.authorCollection.edges.flatMap((edge) => edge?.node?.name ?? []),
  ['Ada'],
);
notes.stop();
authors.stop();
