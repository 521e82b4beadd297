/** Agents at handlers that are mounted in servers of one's own, by the SDK's own client. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { signKey } from '../../src/auth/sign-key.ts';
import { createFetchHandler } from '../../src/http/transport/create-fetch-handler.ts';
import { createNodeHandler } from '../../src/http/transport/create-node-handler.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { createAgents } from '../../src/mcp/create-agents.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { agentSql, callTool, documents, namesOf, secret } from './agent-world.ts';

const agents = createAgents();
let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(agentSql);
  graph = await createRowgraph({ database: database.url, observe: (event) => agents.notice(event) });
});
after(async () => {
  await graph?.close();
  await databases?.close();
});

const options = { jwtSecret: secret, agents, trustedDocuments: { ledger: documents.ledger!, notes: documents['notes-by-mood']! } };
type Fetch = typeof fetch;

async function connect(endpoint: string, send: Fetch = fetch): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { apikey: await signKey(secret, 'authenticated', undefined, { sub: 'ada' }) };
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers }, fetch: send }));
  return client;
}

const query = '{ noteCollection(orderBy: [{id: AscNullsLast}]) { edges { node { id } } } }';

async function checkClient(client: Client): Promise<void> {
  const names = await namesOf(client);
  assert.ok(names.includes('run_query') && names.includes('NotesByMood'));
  assert.ok(!names.includes('run_mutation') && !names.includes('Ledger'), 'writes are off, and the role may not read the ledger');
  const { data } = await callTool(client, 'run_query', { query });
  assert.deepEqual(data.data, { noteCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] } });
}

test('a handler of node:http serves agents where it is mounted for them, and tools follow the schema', async (context) => {
  const handler = createNodeHandler(graph, options);
  const server = createServer((request, response) => {
    if (request.url === '/agents') handler.agents(request, response);
    else handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = await connect(`${url}/agents`);
  context.after(() => client.close());
  await checkClient(client);
  const headers = { apikey: await signKey(secret, 'anon'), 'content-type': 'application/json' };
  const graphql = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query: '{ __typename }' }) });
  assert.deepEqual(await graphql.json(), { data: { __typename: 'Query' } });
  const got = await fetch(`${url}/agents`, { headers });
  assert.deepEqual([got.status, got.headers.get('allow')], [405, 'POST']);
  const anonymous = await fetch(`${url}/agents`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  assert.equal(anonymous.status, 401);
  await database.run('grant select on ledger to authenticated');
  await graph.reload();
  assert.ok((await namesOf(client)).includes('Ledger'));
  await database.run('revoke select on ledger from authenticated');
  await graph.reload();
  assert.ok(!(await namesOf(client)).includes('Ledger'));
});

test('a handler of the Fetch standard serves agents; without the option it says so', async () => {
  const handler = createFetchHandler(graph, options);
  const client = await connect('http://localhost/mcp', (input, init) => handler.agents(new Request(input, init)));
  await checkClient(client);
  await client.close();
  const { agents: without } = createFetchHandler(graph, { jwtSecret: secret });
  const headers = { apikey: await signKey(secret, 'anon'), 'content-type': 'application/json' };
  const answer = await without(new Request('http://localhost/mcp', { method: 'POST', headers, body: '{}' }));
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /without the option/);
});

test('what could not work is refused', () => {
  assert.throws(() => createAgents({ writes: 'yes' as never }), /"writes" must be true or false/);
  assert.throws(() => createAgents({ resultSize: -1 }), /resultSize/);
  assert.throws(() => createAgents({ allowsWrites: true } as never), /There is no option "allowsWrites"/);
});
