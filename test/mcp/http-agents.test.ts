/** Agents over HTTP: behind the same keys, roles, limits and deadlines as the endpoint, each message on its own. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RevokedTokens } from '../../src/auth/revoked-tokens.ts';
import { signKey } from '../../src/auth/sign-key.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { type AgentServer, agentSql, callTool, documents, documentsOf, namesOf, secret, startAgentServer } from './agent-world.ts';

let databases: TestDatabases;
let database: TestDatabase;
let server: AgentServer;
let writing: AgentServer;
const ada = { role: 'authenticated', claims: { sub: 'ada' } };
const bob = { role: 'authenticated', claims: { sub: 'bob' } };

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(agentSql);
  server = await startAgentServer(database);
  writing = await startAgentServer(database, { settings: { allowsWrites: true, allowsExplain: true } });
});
after(async () => {
  await Promise.all([server.stop(), writing.stop()]);
  await databases.close();
});

const schemaTools = ['list_types', 'list_fields', 'describe_type'];

test('both kinds of clients see the tools that the settings allow', async () => {
  for (const isModern of [false, true]) {
    assert.deepEqual(await namesOf(await server.connect({ ...ada, isModern })), [
      ...schemaTools,
      'run_query',
      'NotesByMood',
      'run_query_b704fd',
      'Notes',
    ]);
    const all = await namesOf(await writing.connect({ ...ada, isModern }));
    for (const name of ['run_mutation', 'explain_query', 'WriteNote']) assert.ok(all.includes(name), name);
  }
});

test('a tool says whether it changes anything', async () => {
  const { tools } = await (await writing.connect(ada)).listTools();
  const hints = new Map(tools.map(({ name, annotations }) => [name, [annotations?.readOnlyHint, annotations?.destructiveHint]]));
  for (const name of [...schemaTools, 'run_query', 'explain_query', 'NotesByMood']) assert.deepEqual(hints.get(name), [true, false], name);
  for (const name of ['run_mutation', 'WriteNote']) assert.deepEqual(hints.get(name), [false, true], name);
});

test('a document becomes a tool with its description, and its variables as arguments', async () => {
  const { tools } = await (await writing.connect(ada)).listTools();
  const byMood = tools.find(({ name }) => name === 'NotesByMood');
  assert.equal(byMood?.description, 'Notes in a mood, newest first');
  assert.deepEqual(byMood?.inputSchema, {
    type: 'object',
    properties: {
      mood: { type: 'string', enum: ['calm', 'wild'], description: 'The mood to look for' },
      first: { type: 'integer', description: 'Default: 5' },
    },
    required: ['mood'],
    additionalProperties: false,
  });
  const write = tools.find(({ name }) => name === 'WriteNote')?.inputSchema as Record<string, Record<string, unknown>>;
  assert.deepEqual(write.properties, { notes: { type: 'array', items: { $ref: '#/$defs/NoteInsertInput' } } });
  assert.deepEqual(Object.keys(write.$defs ?? {}), ['NoteInsertInput']);
  assert.equal(tools.find(({ name }) => name === 'Notes')?.description, 'Finds notes by a filter');
});

test('rows are those that the policies show to the caller', async () => {
  const query = '{ noteCollection(orderBy: [{id: AscNullsLast}], filter: {id: {lte: 3}}) { edges { node { id } } } }';
  const idsOf = async (options: Parameters<AgentServer['connect']>[0]): Promise<unknown> => {
    const { data } = await callTool(await server.connect(options), 'run_query', { query });
    const { noteCollection } = data.data as { noteCollection: { edges: { node: { id: number } }[] } };
    return noteCollection.edges.map(({ node }) => node.id);
  };
  assert.deepEqual([await idsOf({}), await idsOf(ada), await idsOf(bob)], [[1], [1, 2], [3]]);
  const wild = { mood: 'wild' };
  assert.match((await callTool(await server.connect(bob), 'NotesByMood', wild)).text, /of bob/);
  assert.doesNotMatch((await callTool(await server.connect(ada), 'NotesByMood', wild)).text, /of bob/);
});

test('nothing is described that the role does not see', async () => {
  const anon = await writing.connect();
  const service = await writing.connect({ role: 'service_role' });
  const everything = async (client: typeof anon): Promise<string> => {
    const listed = await client.listTools();
    const types = await callTool(client, 'list_types', { search: '' });
    const fields = await callTool(client, 'list_fields', {});
    const changes = await callTool(client, 'list_fields', { root: 'Mutation' });
    return JSON.stringify([listed, types, fields, changes]);
  };
  assert.doesNotMatch(await everything(anon), /ledger|amount|WriteNote|insertInto/i);
  assert.match(await everything(service), /ledgerCollection.*insertIntoLedgerCollection|Ledger/);
  assert.equal((await callTool(anon, 'describe_type', { names: ['Ledger'] })).isError, true);
  assert.match(
    (await callTool(service, 'describe_type', { names: ['Ledger'] })).text,
    /^type Ledger implements Node \{\n[^}]*amount: BigFloat!/,
  );
  await assert.rejects(callTool(anon, 'WriteNote', { notes: [] }), /There is no tool "WriteNote"/);
});

test('types are described as definitions, and lists can be narrowed and read on', async () => {
  const client = await server.connect(ada);
  const { text } = await callTool(client, 'describe_type', { names: ['Note', 'Mood', 'Nothing'] });
  assert.match(text, /"What people wrote down"\ntype Note implements Node \{/);
  assert.match(text, / {2}"The text, as it was written"\n {2}body: String!/);
  assert.match(text, /enum Mood \{\n {2}calm\n {2}wild\n\}/);
  assert.match(text, /# There is no type Nothing\./);
  assert.match(
    (await callTool(client, 'describe_type', { names: ['Note'], search: 'written' })).text,
    /\{\n {2}"[^"]+"\n {2}body: String!\n\}$/,
  );
  const overview = (await callTool(client, 'list_types')).text;
  assert.match(overview, /^type Note # What people wrote down$/m);
  assert.doesNotMatch(overview, /NoteFilter|NoteConnection/);
  assert.match((await callTool(client, 'list_types', { search: 'notefilter' })).text, /^input NoteFilter$/m);
  const { data } = await callTool(client, 'list_types', { kind: 'enum', after: 1 });
  const { types, total } = data as { types: string[]; total: number };
  assert.equal(types.length, total - 1);
});

test('what is too much is cut, with a note of how to ask for less', async () => {
  const small = await startAgentServer(database, { settings: { resultSize: 1024, allowsWrites: true } });
  const client = await small.connect(ada);
  const listed = await callTool(client, 'list_types', { kind: 'input' });
  assert.match(listed.text, /# \d+ more: narrow "search", or read on with "after": \d+$/);
  assert.match(
    (await callTool(client, 'describe_type', { names: ['Note', 'NoteFilter', 'NoteConnection', 'Query'] })).text,
    /# Cut: \d of 4/,
  );
  const aliases = Array.from({ length: 100 }, (_, index) => `a${index}: __typename`).join(' ');
  const read = await callTool(client, 'run_query', { query: `{ ${aliases} }` });
  assert.deepEqual([read.isError, /^RESPONSE_TOO_LARGE: .*Ask for less/.test(read.text)], [true, true]);
  const write = `mutation { insertIntoNoteCollection(objects: [{owner: "ada", body: "${'long '.repeat(300)}"}]) { records { body } } }`;
  const written = await callTool(client, 'run_mutation', { query: write });
  assert.deepEqual([written.isError, /^The mutation ran/.test(written.text)], [false, true]);
  await small.stop();
  await database.run("delete from note where body like 'long long%'");
});

test('without writes no way leads to a mutation', async () => {
  const client = await server.connect(ada);
  const mutation = 'mutation { deleteFromNoteCollection(atMost: 10) { affectedCount } }';
  const { text, isError } = await callTool(client, 'run_query', { query: mutation });
  assert.deepEqual([isError, text.slice(0, 19)], [true, 'METHOD_NOT_ALLOWED:']);
  const both = `query A { __typename } ${mutation.replace('mutation', 'mutation B')}`;
  assert.match((await callTool(client, 'run_query', { query: both, operationName: 'B' })).text, /^METHOD_NOT_ALLOWED:/);
  for (const name of ['run_mutation', 'WriteNote', 'explain_query'])
    await assert.rejects(callTool(client, name, { query: mutation }), new RegExp(`There is no tool "${name}"`));
  assert.match((await callTool(client, 'list_fields', { root: 'Mutation' })).text, /^BAD_USER_INPUT:/);
  assert.deepEqual(await database.run("select count(*)::int as n from note where owner = 'ada'"), [{ n: 2 }]);
});

test('a mutation runs where it is allowed, and only as the policies say', async () => {
  const client = await writing.connect(ada);
  const insert = 'mutation ($n: [NoteInsertInput!]!) { insertIntoNoteCollection(objects: $n) { affectedCount } }';
  const own = await callTool(client, 'run_mutation', { query: insert, variables: { n: [{ owner: 'ada', body: 'tool' }] } });
  assert.equal(own.text, '{"data":{"insertIntoNoteCollection":{"affectedCount":1}}}');
  const other = await callTool(client, 'run_mutation', { query: insert, variables: { n: [{ owner: 'bob', body: 'tool' }] } });
  assert.deepEqual([other.isError, /^[A-Z_]+: .*row-level security.*\(at insertIntoNoteCollection\)/.test(other.text)], [true, true]);
  const byDocument = await callTool(client, 'WriteNote', { notes: [{ owner: 'ada', body: 'tool', mood: 'wild' }] });
  assert.match(byDocument.text, /"affectedCount":1/);
  await database.run("delete from note where body = 'tool'");
});

test('an operation is explained where that is allowed', async () => {
  const client = await writing.connect(ada);
  const { text, data } = await callTool(client, 'explain_query', { query: '{ noteCollection { edges { node { id } } } }' });
  assert.match(text, /"sql":/);
  assert.equal(data.role, 'authenticated');
  const { isError, data: failed } = await callTool(client, 'explain_query', { query: '{ nothing }' });
  assert.deepEqual(
    [isError, (failed.errors as { extensions: { code: string } }[])[0]?.extensions.code],
    [true, 'GRAPHQL_VALIDATION_FAILED'],
  );
});

test('bad arguments are errors that the model can mend', async () => {
  const client = await server.connect(ada);
  for (const [name, values, message] of [
    ['run_query', {}, /needs the argument "query"/],
    ['run_query', { query: 1 }, /"query" must be a string/],
    ['run_query', { query: '{ __typename }', variables: 'no' }, /"variables" must be an object/],
    ['run_query', { query: '{ __typename }', extra: 1 }, /no argument "extra". There are query, variables, operationName/],
    ['run_query', { query: '{' }, /^GRAPHQL_PARSE_FAILED/],
    ['run_query', { query: '{ noteCollection { nope } }' }, /^GRAPHQL_VALIDATION_FAILED: Cannot query field "nope"/],
    ['list_types', { after: -1 }, /"after" must be a whole number/],
    ['list_types', { kind: 'table' }, /The kinds are type, input/],
    ['describe_type', { names: [] }, /must be a list of 1 to 20 names/],
    ['describe_type', { names: ['a b'] }, /is not the name of a type/],
    ['describe_type', { names: ['__proto__'] }, /has no type "__proto__"/],
    ['NotesByMood', {}, /needs the argument "mood"/],
    ['NotesByMood', { mood: 'sad' }, /^BAD_USER_INPUT: .*does not exist in "Mood" enum/],
    ['NotesByMood', { mood: 'wild', __proto__x: 1 }, /has no argument/],
  ] as const) {
    const { text, isError } = await callTool(client, name, values);
    assert.equal(isError, true, text);
    assert.match(text, message);
  }
  // Some models send objects as text.
  const query = 'query ($m: Mood) { noteCollection(filter: {mood: {eq: $m}}) { edges { node { id } } } }';
  assert.equal(
    (await callTool(client, 'run_query', { query: query.replace('$m: Mood', '$m: Mood!'), variables: '{"m": "calm"}' })).isError,
    false,
  );
});

test('where introspection is off, nothing is described, and trusted documents still are tools', async () => {
  const silent = await startAgentServer(database, { graph: { introspection: 'off' } });
  const client = await silent.connect(ada);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name).filter((name) => schemaTools.includes(name)),
    [],
  );
  for (const name of schemaTools) await assert.rejects(callTool(client, name, { names: ['Note'] }), /There is no tool/);
  assert.deepEqual(tools.find(({ name }) => name === 'NotesByMood')?.inputSchema.properties, {
    mood: { description: 'The mood to look for' },
    first: { type: 'integer', description: 'Default: 5' },
  });
  assert.doesNotMatch(JSON.stringify(tools), /calm|"owner"|NoteInsertInput/);
  assert.match((await callTool(client, 'NotesByMood', { mood: 'wild' })).text, /wild one/);
  await silent.stop();
});

test('a role that may run trusted documents only has no other tools', async () => {
  const strict = await startAgentServer(database, { server: { untrustedRoles: ['service_role'] } });
  const client = await strict.connect(ada);
  assert.deepEqual(await namesOf(client), ['NotesByMood', 'run_query_b704fd', 'Notes']);
  await assert.rejects(callTool(client, 'run_query', { query: '{ __typename }' }), /There is no tool "run_query"/);
  assert.match((await callTool(client, 'NotesByMood', { mood: 'wild' })).text, /wild one/);
  assert.ok((await namesOf(await strict.connect({ role: 'service_role' }))).includes('run_query'));
  await strict.stop();
});

test('tools follow the documents and the schema', async () => {
  const changing = await databases.create(agentSql);
  let current = documentsOf({ later: 'query Later { laterCollection { edges { node { id } } } }' });
  const trusted = {
    get: (id: string) => current.get(id),
    hasText: (text: string) => current.hasText(text),
    get all() {
      return current.all;
    },
  };
  const follower = await startAgentServer(changing, { trusted });
  const client = await follower.connect({ role: 'service_role' });
  assert.ok(!(await namesOf(client)).includes('Later'));
  await changing.run('create table later (id int primary key)');
  await callTool(client, 'run_query', { query: '{ laterCollection { edges { node { id } } } }' });
  follower.forget();
  assert.ok((await namesOf(client)).includes('Later'));
  current = documentsOf({ again: documents['notes-by-mood']! });
  assert.deepEqual((await namesOf(client)).slice(4), ['NotesByMood']);
  await assert.rejects(callTool(client, 'Later'), /There is no tool/);
  await follower.stop();
});

test('limits and the deadline hold for tools as for requests', async () => {
  const strict = await startAgentServer(database, { graph: { limits: { depth: 3 } }, server: { requestTimeout: 400 } });
  const client = await strict.connect(ada);
  const deep = await callTool(client, 'run_query', { query: '{ noteCollection { edges { node { id } } } }' });
  assert.deepEqual([deep.isError, deep.text.slice(0, 9)], [true, 'TOO_DEEP:']);
  const late = await callTool(client, 'run_query', { query: '{ slow }' });
  assert.deepEqual([late.isError, late.text.slice(0, 8)], [true, 'TIMEOUT:']);
  await strict.stop();
  const narrow = await startAgentServer(database, { graph: { limits: 'strict' } });
  const described = await callTool(await narrow.connect(ada), 'describe_type', {
    names: ['Note', 'NoteFilter', 'NoteConnection', 'Query', 'Mood', 'Mutation'],
  });
  assert.equal(described.isError, false, described.text);
  await narrow.stop();
});

const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

async function post(to: AgentServer, headers: Record<string, string>, body: unknown = message): Promise<Response> {
  return fetch(to.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', apikey: await signKey(secret, 'anon'), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

test('without a valid key there is no answer', async () => {
  assert.equal((await post(server, { apikey: '' })).status, 401);
  assert.equal((await post(server, { apikey: 'wrong' })).status, 401);
  assert.equal((await post(server, { authorization: 'Bearer wrong' })).status, 401);
  const { status, headers } = await post(server, { authorization: 'Basic x' });
  assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer realm="rowgraph"']);
});

test('a token that is revoked meanwhile ends what its agent may do', async () => {
  const revoked = { current: new RevokedTokens([]) };
  const revoking = await startAgentServer(database, { server: { tokens: { revoked } } });
  const client = await revoking.connect(ada);
  assert.ok((await namesOf(client)).includes('run_query'));
  revoked.current = new RevokedTokens([{ sub: 'ada' }]);
  await assert.rejects(callTool(client, 'run_query', { query: '{ __typename }' }), /has been revoked/);
  assert.ok((await namesOf(await revoking.connect(bob))).includes('run_query'));
  await revoking.stop();
});

test('a page of another origin is refused unless the origin is named', async () => {
  const named = await startAgentServer(database, { server: { corsOrigins: ['https://app.example'] } });
  for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', 'http://127.0.0.1.nip.io:4000'])
    for (const each of [server, named]) assert.equal((await post(each, { origin })).status, 403, origin);
  const rebound = await post(server, { origin: 'http://evil.example', host: 'evil.example' });
  assert.equal(((await rebound.json()) as { errors: { extensions: { code: string } }[] }).errors[0]?.extensions.code, 'ORIGIN_NOT_ALLOWED');
  assert.equal((await post(server, { origin: 'http://localhost:6274' })).status, 200);
  assert.equal((await post(named, { origin: 'http://localhost:6274' })).status, 403);
  const allowed = await post(named, { origin: 'https://app.example' });
  assert.deepEqual([allowed.status, allowed.headers.get('access-control-allow-origin')], [200, 'https://app.example']);
  await named.stop();
});

test('what is no message of the protocol is refused', async () => {
  for (const [body, status] of [
    ['{', 400],
    ['', 400],
    [{ hello: 1 }, 400],
    [[message, message], 400],
    [null, 400],
    [{ ...message, method: 'resources/list' }, 200],
    [{ jsonrpc: '2.0', method: 'notifications/initialized' }, 202],
  ] as const)
    assert.equal((await post(server, {}, body)).status, status, JSON.stringify(body));
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const { status, headers } = await fetch(server.endpoint, { method });
    assert.deepEqual([status, headers.get('allow')], [405, 'POST'], method);
  }
  assert.equal((await post(server, { 'content-type': 'text/plain' })).status, 415);
  assert.equal((await post(server, {}, { ...message, params: { x: 'x'.repeat(600 * 1024) } })).status, 413);
  assert.deepEqual(server.events, []);
});

test('a client that accepts only JSON gets it, without a session', async () => {
  const response = await post(server, { accept: 'application/json' });
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/json; charset=utf-8']);
  assert.equal(response.headers.get('mcp-session-id'), null);
  const { result } = (await response.json()) as { result: { tools: unknown[] } };
  assert.ok(result.tools.length > 3);
});

test('the key may be in the URL, for programs that send no headers, and a request may be large', async () => {
  const key = await signKey(secret, 'anon');
  const body = JSON.stringify({
    ...message,
    method: 'tools/call',
    params: { name: 'run_query', arguments: { query: `{ __typename } ${'#'.repeat(20_000)}` } },
  });
  const response = await fetch(`${server.endpoint}?apikey=${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  assert.deepEqual(
    [response.status, ((await response.json()) as { result: unknown }).result],
    [200, { content: [{ type: 'text', text: '{"data":{"__typename":"Query"}}' }], structuredContent: { data: { __typename: 'Query' } } }],
  );
});

test('requests of agents count for the rate and for what is in flight', async () => {
  const rated = await startAgentServer(database, { server: { rateLimit: { max: 2, windowMilliseconds: 60_000 } } });
  const statuses = [await post(rated, {}), await post(rated, {}), await post(rated, {})].map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 429]);
  await rated.stop();
  const full = await startAgentServer(database, { server: { maxClientRequests: 1, requestTimeout: 2_000 } });
  const slow = post(full, {}, { ...message, method: 'tools/call', params: { name: 'run_query', arguments: { query: '{ slow }' } } });
  await database.untilRunning('slow', 1);
  assert.equal((await post(full, {})).status, 503);
  assert.match(await (await slow).text(), /TIMEOUT/);
  await full.stop();
});

test('a server that does not serve agents has no such path', async () => {
  const without = await startAgentServer(database, { servesAgents: false });
  assert.equal((await post(without, {})).status, 404);
  await without.stop();
});
