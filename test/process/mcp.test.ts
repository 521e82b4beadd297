/** `rowgraph mcp`: an agent on standard input and output, over a database and over a running server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { signKey } from '../../src/auth/sign-key.ts';
import { type AgentServer, agentSql, callTool, documents, namesOf, secret, startAgentServer } from '../mcp/agent-world.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, removeFolder, runCommand, startCommand } from './run-command.ts';

const main = process.env.ROWGRAPH_TEST_COMMAND ?? path.join(import.meta.dirname, '../../src/cli/main.ts');

let folder: string;
let databases: TestDatabases;
let database: TestDatabase;
let server: AgentServer;
before(async () => {
  folder = await makeFolder();
  databases = await startTestDatabases();
  database = await databases.create(agentSql);
  server = await startAgentServer(database);
});
after(async () => {
  await server.stop();
  await databases.close();
  await removeFolder(folder);
});

interface Agent extends AsyncDisposable {
  readonly client: Client;
  /** What the process has written to standard error. */
  readonly log: () => string;
}

async function startAgent(args: readonly string[], environment: Record<string, string> = {}): Promise<Agent> {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, ...environment };
  const transport = new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', ...args], cwd: folder, env, stderr: 'pipe' });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return { client, log: () => log, [Symbol.asyncDispose]: () => client.close() };
}

test('an agent on a database acts as the role with its claims', async () => {
  const asAda = ['--database-url', database.url, '--role', 'authenticated', '--claims', '{"sub": "ada"}'];
  await using agent = await startAgent(asAda);
  const { text } = await callTool(agent.client, 'run_query', { query: '{ noteCollection { edges { node { owner } } } }' });
  const { data } = JSON.parse(text) as { data: { noteCollection: { edges: { node: { owner: string } }[] } } };
  assert.deepEqual(new Set(data.noteCollection.edges.map(({ node }) => node.owner)), new Set(['ada']));
  assert.deepEqual(await namesOf(agent.client), ['list_types', 'list_fields', 'describe_type', 'run_query', 'explain_query']);
  const { text: plan } = await callTool(agent.client, 'explain_query', { query: '{ noteCollection { edges { node { id } } } }' });
  assert.match(plan, /"cost":/);
  const { text: refused } = await callTool(agent.client, 'run_query', { query: 'mutation { deleteFromNoteCollection { affectedCount } }' });
  assert.match(refused, /^METHOD_NOT_ALLOWED: .*allows no mutations/);
  assert.equal(agent.log(), '');
});

test('an agent may write if it is allowed to, and sees a change of the schema', async () => {
  const changing = await databases.create(agentSql);
  await using agent = await startAgent([
    '--database-url',
    changing.url,
    '--role',
    'authenticated',
    '--claims',
    '{"sub": "ada"}',
    '--allow-writes',
  ]);
  const insert = 'mutation ($body: String!) { insertIntoNoteCollection(objects: [{owner: "ada", body: $body}]) { affectedCount } }';
  const { text } = await callTool(agent.client, 'run_mutation', { query: insert, variables: { body: 'from an agent' } });
  assert.equal(text, '{"data":{"insertIntoNoteCollection":{"affectedCount":1}}}');
  await changing.run('create table added (id int primary key)');
  await callTool(agent.client, 'run_query', { query: '{ addedCollection { edges { node { id } } } }' });
  const { text: described } = await callTool(agent.client, 'describe_type', { names: ['Added'] });
  assert.match(described, /^type Added/);
});

test('trusted documents are tools, and others when the file changes, of which the client is told', async () => {
  const file = path.join(folder, 'documents.json');
  await writeFile(file, JSON.stringify({ one: documents['notes-by-mood'] }));
  await using agent = await startAgent(['--database-url', database.url, '--trusted-documents', file, '--only-trusted-documents']);
  assert.deepEqual(await namesOf(agent.client), ['NotesByMood']);
  const changed = Promise.withResolvers<void>();
  agent.client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
  await writeFile(file, JSON.stringify({ one: documents['notes-by-mood'], two: 'query Second { __typename }' }));
  await changed.promise;
  assert.deepEqual(await namesOf(agent.client), ['NotesByMood', 'Second']);
});

test('an agent on a running server acts as the key and the token say', async () => {
  const environment = {
    ROWGRAPH_API_KEY: await signKey(secret, 'anon'),
    ROWGRAPH_TOKEN: await signKey(secret, 'authenticated', undefined, { sub: 'ada' }),
  };
  await using agent = await startAgent(['--url', `${server.url}/graphql/v1`], environment);
  assert.deepEqual(await namesOf(agent.client), ['list_types', 'list_fields', 'describe_type', 'run_query']);
  const { text } = await callTool(agent.client, 'run_query', {
    query: '{ noteCollection(filter: {body: {eq: "wild one"}}) { edges { node { owner } } } }',
  });
  assert.equal(text, '{"data":{"noteCollection":{"edges":[{"node":{"owner":"ada"}}]}}}');
  const { text: refused } = await callTool(agent.client, 'run_query', {
    query: 'query A { __typename } mutation B { x }',
    operationName: 'B',
  });
  assert.match(refused, /^METHOD_NOT_ALLOWED: /);
  const { text: wrong } = await callTool(agent.client, 'run_query', { query: '{' });
  assert.match(wrong, /^GRAPHQL_PARSE_FAILED: /);
});

interface Documented {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

test('each configuration of docs/agents.md works as it is written', async () => {
  const text = readFileSync(path.join(import.meta.dirname, '../../docs/agents.md'), 'utf8');
  const blocks = [...text.matchAll(/```json\n([\s\S]+?)```/g)].map(
    ([, block = '']) => JSON.parse(block) as Record<string, Record<string, Documented>>,
  );
  assert.equal(blocks.length, 5);
  const values: Record<string, string> = {
    API_KEY: await signKey(secret, 'anon'),
    USER_TOKEN: await signKey(secret, 'authenticated', undefined, { sub: 'ada' }),
    DATABASE_URL: database.url,
  };
  // The three programs each have a way to write what is not in the file.
  const fill = (written: string): string =>
    written.replace(/\$\{(?:env:|input:)?([\w-]+)\}/g, (_, name: string) => values[name.replace('-', '_').toUpperCase()] ?? '');
  for (const block of blocks) {
    const { command, args = [], env = {}, headers = {} } = (block.mcpServers ?? block.servers)?.database ?? {};
    const filled = Object.fromEntries(Object.entries({ ...env, ...headers }).map(([name, value]) => [name, fill(value)]));
    if (command === undefined) {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(server.endpoint), { requestInit: { headers: filled } }));
      assert.ok((await namesOf(client)).includes('run_query'));
      await client.close();
    } else {
      assert.deepEqual([command, ...args.slice(0, 2)], ['npx', 'rowgraph', 'mcp']);
      const local = args.slice(2).map((argument) => argument.replace('https://api.example.com', server.url));
      await using agent = await startAgent(local, filled);
      assert.ok((await namesOf(agent.client)).includes('run_query'));
    }
  }
});

test('serve with --mcp serves agents by all of its workers, and says where', async () => {
  const keys = ['--jwt-secret', secret, '--port', '0', '--workers', '2'];
  const command = startCommand(['serve', '--database-url', database.url, ...keys, '--mcp', '--base-path', '/api'], { home: folder });
  const [, url = ''] = /Agents \(MCP\): (http:\S+\/api\/mcp)\n/.exec(await command.waitFor(/Agents \(MCP\): \S+\n/)) ?? [];
  const apikey = await signKey(secret, 'anon');
  for (let round = 0; round < 6; round++) {
    const client = new Client({ name: 'test', version: '1' }, round % 2 === 0 ? {} : { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { apikey, connection: 'close' } } }));
    assert.deepEqual(await namesOf(client), ['list_types', 'list_fields', 'describe_type', 'run_query']);
    await client.close();
  }
  assert.equal((await command.stop()).code, 0);
});

test('dev with --mcp serves the example to agents, with the key that it prints', async () => {
  const command = startCommand(['dev', '--mcp', '--port', '0'], { home: folder });
  const printed = await command.waitFor(/Ctrl-C stops/);
  const [, url = ''] = /Agents \(MCP\): +(\S+)/.exec(printed) ?? [];
  const [, apikey = ''] = /anon key: +(\S+)/.exec(printed) ?? [];
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { apikey } } }));
  assert.match((await callTool(client, 'list_types', { search: 'species' })).text, /^type Species/m);
  await client.close();
  assert.equal((await command.stop()).code, 0);
});

test('the host chooses the project whose agent it is, with its own keys', async () => {
  const projects = path.join(folder, 'projects.json');
  const references = ['aaaaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbbbb'];
  const other = await databases.create('create table other (id int primary key)');
  const secretOf = (reference: string): string => `the secret of the project ${reference}`;
  const settings = references.map((reference, index) => [
    reference,
    { databaseUrl: (index === 0 ? database : other).url, jwtSecret: secretOf(reference), introspection: 'on' },
  ]);
  await writeFile(projects, JSON.stringify(Object.fromEntries(settings)));
  const command = startCommand(['serve', '--projects', projects, '--projects-domain', 'example.com', '--port', '0', '--mcp'], {
    home: folder,
  });
  const [, url = ''] = /Agents \(MCP\): (\S+)\n/.exec(await command.waitFor(/Agents \(MCP\): \S+\n/)) ?? [];
  const askAs = async (host: string, key: string): Promise<{ status: number; body: string }> => {
    const sent = request(url, {
      method: 'POST',
      headers: { host: `${host}.example.com`, apikey: key, 'content-type': 'application/json' },
    });
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_types', arguments: {} } }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, body: await text(response) };
  };
  const keys = await Promise.all(references.map((reference) => signKey(secretOf(reference), 'anon')));
  assert.match((await askAs(references[0]!, keys[0]!)).body, /type Note/);
  const answer = await askAs(references[1]!, keys[1]!);
  assert.match(answer.body, /type other/);
  assert.doesNotMatch(answer.body, /Note/);
  assert.equal((await askAs(references[1]!, keys[0]!)).status, 401);
  assert.equal((await command.stop()).code, 0);
});

for (const [problem, args, message] of [
  ['nothing to serve', [], /--database-url is missing .*or give --url/],
  ['two things to serve', ['--url', 'http://127.0.0.1:1/graphql/v1', '--database-url', 'postgres://x@127.0.0.1/x'], /exclude each other/],
  ['a role for a server', ['--url', 'http://127.0.0.1:1/graphql/v1', '--role', 'anon'], /--role and --claims are for a database/],
  ['a server that is down', ['--url', 'http://127.0.0.1:1/graphql/v1'], /http:\/\/127\.0\.0\.1:1 cannot be reached/],
  ['a URL that is none', ['--url', 'localhost'], /--url must be a URL such as/],
  ['broken claims', ['--database-url', 'postgres://x@127.0.0.1:1/x', '--claims', '{'], /--claims must be a JSON object/],
] as const) {
  test(`${problem} is one line on standard error`, async () => {
    const { code, stderr, stdout } = await runCommand(['mcp', ...args], { home: folder });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, message);
    assert.equal(stderr.trim().split('\n').length, 1);
  });
}
