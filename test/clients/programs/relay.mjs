/**
 * Relay's compiler and runtime, with persisted queries, against a rowgraph whose global identifier is `id` (--node-id-field id), or `nodeId` as it is by default.
 * The argument says which; the operations are written for `id`.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from 'graphql-ws';
import {
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  getRequest,
  getSingularSelector,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime';
import { folder, headers, idUrl, requests, url } from './settings.mjs';

const [, , key] = process.argv;
const isDefault = key === 'nodeId';
/** What a column `id` is called beside it. */
const column = isDefault ? 'id' : 'idColumn';
// The compiler does not see what git ignores, so that this is outside of the repository.
const project = mkdtempSync(path.join(tmpdir(), 'rowgraph-relay-'));
process.once('exit', () => rmSync(project, { recursive: true }));
const write = (name, text) => writeFileSync(path.join(project, name), text);
const operations = readFileSync(path.join(folder, 'relay/operations.js'), 'utf8');
mkdirSync(path.join(project, 'src'));
write('src/operations.js', isDefault ? operations.replace(/\bid\b/g, 'nodeId').replace(/\bidColumn\b/g, 'id') : operations);
write('schema.graphql', isDefault ? process.env.SDL : process.env.ID_SDL);
write('persisted.json', '{}');
const config = {
  src: './src',
  schema: './schema.graphql',
  language: 'javascript',
  artifactDirectory: './artifacts',
  eagerEsModules: false,
  persistConfig: { file: './persisted.json', algorithm: 'SHA256' },
};
const defaultConfig = { ...config, schemaConfig: { nodeInterfaceIdField: 'nodeId', nodeInterfaceIdVariableName: 'nodeId' } };
write('relay.config.json', JSON.stringify(isDefault ? defaultConfig : config));
mkdirSync(path.join(project, 'artifacts'));
execFileSync(path.join(folder, '../node_modules/.bin/relay-compiler'), { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
const require = createRequire(path.join(project, 'artifacts/'));
const load = (name) => require(`./${name}.graphql`);
const persisted = JSON.parse(readFileSync(path.join(project, 'persisted.json'), 'utf8'));

const fetchFunction = async ({ id, text }, variables) => {
  const extensions = { persistedQuery: { version: 1, sha256Hash: id } };
  const send = async (body) => {
    requests.push(body);
    return (await fetch(isDefault ? url : idUrl, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const answer = await send({ extensions, variables });
  const isUnknown = answer.errors?.[0].extensions.code === 'PERSISTED_QUERY_NOT_FOUND';
  return isUnknown ? send({ query: text ?? persisted[id], extensions, variables }) : answer;
};
const sockets = createClient({
  url: (isDefault ? url : idUrl).replace(/^http/, 'ws'),
  connectionParams: { apiKey: headers.apiKey },
});
const subscribeFunction = ({ id, text }, variables) =>
  Observable.create((sink) => sockets.subscribe({ query: text ?? persisted[id], variables }, sink));
const network = Network.create(fetchFunction, subscribeFunction);
const store = new Store(new RecordSource());
const environment = isDefault
  ? new Environment({ network, store, getDataID: ({ nodeId }) => nodeId })
  : new Environment({ network, store });

const run = (query, variables = {}) => fetchQuery(environment, query, variables, { fetchPolicy: 'network-only' }).toPromise();
const commit = (mutation, variables, more = {}) =>
  new Promise((resolve, reject) => {
    commitMutation(environment, {
      mutation,
      variables,
      onCompleted: (data, errors) => (errors ? reject(errors) : resolve(data)),
      onError: reject,
      ...more,
    });
  });
/** What a component that uses the fragment would see now. */
const read = (query, fragment) => {
  const operation = createOperationDescriptor(getRequest(query), {});
  environment.retain(operation);
  const parent = environment.lookup(operation.fragment).data;
  return environment.lookup(getSingularSelector(fragment, parent)).data;
};
const bodies = (connection) => connection.edges.map(({ node }) => node.body);

const forwardQuery = load('operationsForwardQuery');
const forward = load('operationsForward_query');
const backwardQuery = load('operationsBackwardQuery');
const backward = load('operationsBackward_query');

// Pages, forward and backward, until there are no more.
for (const [query, fragment, next, more, end] of [
  [forwardQuery, forward, load('operationsForwardPaginationQuery'), 'hasNextPage', 'endCursor'],
  [backwardQuery, backward, load('operationsBackwardPaginationQuery'), 'hasPreviousPage', 'startCursor'],
]) {
  await run(query);
  let pages = 1;
  for (let { pageInfo } = read(query, fragment).noteCollection; pageInfo[more]; { pageInfo } = read(query, fragment).noteCollection) {
    await run(next, { count: 2, cursor: pageInfo[end] });
    pages += 1;
  }
  assert.deepEqual([pages, bodies(read(query, fragment).noteCollection)], [3, ['alpha', 'beta', 'gamma', 'delta', 'epsilon'].sort()]);
}

// A row and the pages inside it, again by `node`: the identifier of a bigint beyond 2^53, and of a composite key.
const first = read(forwardQuery, forward).noteCollection.edges[0].node;
assert.deepEqual(JSON.parse(atob(first[key]).replace(/(\d{16,})/, '"$1"')), ['public', 'note', '9007199254740993']);
const noteQuery = load('operationsNoteQuery');
const note = load('operationsNote_note');
await run(noteQuery, { [key]: first[key] });
assert.deepEqual(environment.lookup(getSingularSelector(note, first)).data, {
  body: 'alpha',
  [column]: '9007199254740993',
  author: { [key]: btoa('["public", "author", 1]'), name: 'Ada' },
  [key]: first[key],
});
const tags = load('operationsTags_note');
const tagsOf = () => environment.lookup(getSingularSelector(tags, first)).data.tagCollection;
assert.deepEqual(
  tagsOf().edges.map(({ node }) => node.name),
  ['a'],
);
await run(load('operationsTagsQuery'), { [key]: first[key], count: 5, cursor: tagsOf().pageInfo.endCursor });
assert.deepEqual(
  tagsOf().edges.map(({ node }) => [node.name, node.noteId]),
  [
    ['a', '9007199254740993'],
    ['b', '9007199254740993'],
  ],
);

// Mutations: the store follows.
const seen = () => bodies(read(forwardQuery, forward).noteCollection);
const connections = [read(forwardQuery, forward).noteCollection.__id];
await commit(load('operationsAppendMutation'), { objects: [{ body: 'zeta' }, { body: 'eta' }], connections });
assert.deepEqual(seen().slice(-2), ['eta', 'zeta']);
await commit(load('operationsPrependMutation'), { objects: [{ body: 'omega' }], connections });
await commit(load('operationsPrependEdgeMutation'), { objects: [{ body: 'psi' }], connections });
assert.deepEqual(seen().slice(0, 2), ['psi', 'omega']);
const psi = read(forwardQuery, forward).noteCollection.edges[0].node[key];
await commit(load('operationsRemoveMutation'), { row: psi, connections });
assert.equal(seen()[0], 'omega');
const omega = read(forwardQuery, forward).noteCollection.edges[0].node[key];
const optimistic = [];
const watched = environment.subscribe(
  environment.lookup(
    getSingularSelector(forward, environment.lookup(createOperationDescriptor(getRequest(forwardQuery), {}).fragment).data),
  ),
  ({ data }) => optimistic.push(data.noteCollection.edges[0].node.body),
);
await commit(
  load('operationsUpdateMutation'),
  { row: omega, set: { body: 'last' } },
  {
    optimisticResponse: { updateNoteCollection: { records: [{ [key]: omega, body: 'soon last' }] } },
  },
);
watched.dispose();
assert.deepEqual(optimistic, ['soon last', 'last']);
await assert.rejects(
  commit(
    load('operationsUpdateMutation'),
    { row: omega, set: { body: null } },
    {
      optimisticResponse: { updateNoteCollection: { records: [{ [key]: omega, body: 'never' }] } },
    },
  ),
);
assert.equal(seen()[0], 'last');
await commit(load('operationsDeleteMutation'), { row: omega });
const eta = read(forwardQuery, forward).noteCollection.edges.find((edge) => edge?.node?.body === 'eta').node[key];
await commit(load('operationsRemoveMutation'), { row: eta, connections });
assert.deepEqual(
  read(forwardQuery, forward).noteCollection.edges.flatMap((edge) => edge?.node?.body ?? []),
  ['alpha', 'beta', 'delta', 'epsilon', 'gamma', 'zeta'],
);
assert.ok(requests.some(({ query }) => query === undefined) && requests.every(({ extensions }) => extensions.persistedQuery));

// A subscription: the store follows what anybody changes.
await run(forwardQuery);
const [{ node: lowest }] = read(forwardQuery, forward).noteCollection.edges;
const changed = Promise.withResolvers();
let answers = 0;
const { dispose } = requestSubscription(environment, {
  subscription: load('operationsNotesSubscription'),
  variables: {},
  onError: changed.reject,
  onNext: async ({ noteCollection }) => {
    answers += 1;
    const update = `mutation { updateNoteCollection(filter: { ${key}: { eq: "${lowest[key]}" } }, set: { body: "a live one" }) { affectedCount } }`;
    if (answers === 1) await fetch(isDefault ? url : idUrl, { method: 'POST', headers, body: JSON.stringify({ query: update }) });
    if (noteCollection.edges[0].node.body === 'a live one') changed.resolve();
  },
});
await changed.promise;
dispose();
await sockets.dispose();
assert.equal(read(forwardQuery, forward).noteCollection.edges[0].node.body, 'a live one');
