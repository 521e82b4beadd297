/**
 * What `npm run test:mount` runs: packs the package, installs it beside the frameworks of docs/mounting.md, and runs each program of that page against a
 * PostgreSQL. Takes packages from the npm registry and nothing else.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { signKey } from '../../src/auth/sign-key.ts';
import type { Rowgraph } from '../../src/index.ts';
import { packed, packPackage } from '../package/pack-package.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { startProgram, writePrograms } from './programs.ts';

const run = promisify(execFile);
const secret = 'a-secret-of-tests-with-more-than-32-bytes';
const setup = `
  create table note (id int primary key, body text not null);
  insert into note select n, 'note ' || n from generate_series(1, 3) n;
  create table page (id int primary key, text text not null);
  insert into page select n, repeat('long ü ', 1500) from generate_series(1, 100) n;
  comment on table page is '@graphql({"max_rows": 100})';
  create function whoami() returns text language sql stable as
    $$ select current_user || coalesce(' ' || (current_setting('request.jwt.claims', true)::json ->> 'sub'), '') $$;
  create function nap() returns text stable language plpgsql as $$ begin perform pg_sleep(600); return 'rested'; end $$;`;

let folder: string;
let databases: TestDatabases;
let database: TestDatabase;
let names: readonly string[];
let key: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-mount-'));
  const tarball = packed ?? (await packPackage(folder));
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    await cp(path.join(import.meta.dirname, file), path.join(folder, file));
  // `npm ci` refuses a lock that lacks packages of other platforms.
  await run('npm', ['install', '--no-save', tarball, '--prefer-offline', '--ignore-scripts'], { cwd: folder });
  names = await writePrograms(path.join(folder, 'programs'));
  databases = await startTestDatabases();
  database = await databases.create(setup);
  key = await signKey(secret, 'anon');
});
after(async () => {
  await databases?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly path?: unknown; readonly extensions?: { readonly code: string } }[];
}

/** The signal is that of the client, and of the request where there is no client. */
type Send = (request: Request, signal?: AbortSignal) => Promise<Response>;

interface Served {
  readonly url: string;
  readonly send: Send;
}

/** The executable of a package that has one for each platform. */
function binary(name: 'bun' | 'deno'): string {
  const { platform, arch } = process;
  const folderOf = {
    bun: `@oven/bun-${platform}-${arch}/bin/bun`,
    deno: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}/deno`,
  };
  return path.join(folder, 'node_modules', folderOf[name]);
}

async function start(name: string): Promise<Served & { stop(): Promise<void> }> {
  const commands: Readonly<Record<string, readonly string[]>> = {
    'bun.mjs': [binary('bun'), 'run'],
    'deno.mjs': [binary('deno'), 'run', '--allow-all', '--no-prompt'],
  };
  const command = [...(commands[name] ?? [process.execPath]), name];
  const program = await startProgram(command, path.join(folder, 'programs'), { DATABASE_URL: database.url, JWT_SECRET: secret });
  return { ...program, send: (request, signal) => fetch(request, signal && { signal }) };
}

/** A route handler is imported, as Next does it, and called. */
async function importRoute(): Promise<Served> {
  Object.assign(process.env, { DATABASE_URL: database.url, JWT_SECRET: secret });
  const route = (await import(pathToFileURL(path.join(folder, 'programs/route.mjs')).href)) as Record<
    string,
    (request: Request) => Promise<Response>
  >;
  return {
    url: 'http://127.0.0.1/graphql',
    send: (request, signal) => route[request.method]!(signal ? new Request(request, { signal }) : request),
  };
}

const headers = (): Record<string, string> => ({ apiKey: key, 'content-type': 'application/json' });

function postOf(url: string, body: unknown, more: RequestInit = {}): Request {
  return new Request(url, { method: 'POST', headers: headers(), body: typeof body === 'string' ? body : JSON.stringify(body), ...more });
}

async function ask({ url, send }: Served, query: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await send(postOf(url, { query }, { headers: { ...headers(), ...more } }));
  return (await response.json()) as Answer;
}

/** What every mounted endpoint does. */
async function checkEndpoint(served: Served, parsesBefore: boolean): Promise<void> {
  const { url, send } = served;
  assert.deepEqual(await ask(served, '{ whoami noteByPk(id: 2) { body } }'), { data: { whoami: 'anon', noteByPk: { body: 'note 2' } } });
  const token = await signKey(secret, 'authenticated', '1h', { sub: 'ann' });
  assert.deepEqual(await ask(served, '{ whoami }', { authorization: `Bearer ${token}` }), { data: { whoami: 'authenticated ann' } });
  const got = await send(new Request(`${url}?query=${encodeURIComponent('{ whoami }')}`, { headers: headers() }));
  assert.deepEqual([got.status, await got.json()], [200, { data: { whoami: 'anon' } }]);
  const known = new Request(`${url}?query={whoami}`, { headers: { ...headers(), 'if-none-match': got.headers.get('etag') ?? '' } });
  assert.equal((await send(known)).status, 304);
  for (const encoding of ['identity', 'gzip', 'br', 'zstd']) {
    const request = postOf(
      url,
      { query: '{ pageCollection { edges { node { text } } } }' },
      { headers: { ...headers(), 'accept-encoding': encoding } },
    );
    if (encoding !== 'identity' && url === 'http://127.0.0.1/graphql') continue;
    const { data } = (await (await send(request)).json()) as { data: { pageCollection: { edges: { node: { text: string } }[] } } };
    assert.equal(data.pageCollection.edges.map(({ node }) => node.text).join(''), 'long ü '.repeat(150_000), encoding);
  }
  const broken = await send(postOf(url, '{"query":'));
  assert.equal(broken.status, 400);
  if (!parsesBefore) assert.equal(((await broken.json()) as Answer).errors?.[0]?.extensions?.code, 'BAD_REQUEST');
  const refused = await send(postOf(url, { query: '{ whoami }' }, { headers: { ...headers(), apiKey: 'wrong' } }));
  assert.deepEqual([refused.status, ((await refused.json()) as Answer).errors?.[0]?.extensions?.code], [401, 'UNAUTHENTICATED']);
  const controller = new AbortController();
  const napping = send(postOf(url, { query: '{ nap }' }), controller.signal).catch(() => null);
  await database.untilRunning('nap', 1);
  controller.abort();
  await database.untilRunning('nap', 0);
  await napping;
  // Some servers end the connection of a client whose body they do not read.
  const huge = await send(postOf(url, { query: `{ whoami } #${'x'.repeat(2 * 1024 ** 2)}` }));
  assert.equal(huge.status, 413);
  await huge.text();
}

/** The tools for agents, beside the endpoint (`test/mcp/mounted-agents.test.ts` has the rest). */
async function checkAgents({ url, send }: Served): Promise<void> {
  const call = { name: 'run_query', arguments: { query: '{ whoami }' } };
  const response = await send(postOf(url.replace('/graphql', '/mcp'), { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }));
  assert.match(await response.text(), /\\"whoami\\":\\"anon\\"/);
}

/** What every other GraphQL server does with the schema. */
async function checkSchema(served: Served): Promise<void> {
  const user = { 'x-user': 'ann' };
  const both = await ask(
    served,
    '{ whoami a: noteByPk(id: 2) { text: body __typename } node(nodeId: "WyJwdWJsaWMiLCAibm90ZSIsIDFd") { ... on note { id } } }',
    user,
  );
  assert.deepEqual(both, { data: { whoami: 'authenticated ann', a: { text: 'note 2', __typename: 'note' }, node: { id: 1 } } });
  const failed = await ask(served, '{ noteByPk(id: 2) { body } noteCollection(first: -1) { edges { node { id } } } }', user);
  const [error] = failed.errors ?? [];
  assert.deepEqual(
    [failed.data, failed.errors?.length, error?.path, error?.extensions?.code],
    [null, 1, ['noteCollection'], 'BAD_USER_INPUT'],
  );
}

const insert = (id: number): string => `m${id}: insertIntonoteCollection(objects: [{id: ${id}, body: "b"}]) { affectedCount }`;

for (const name of ['node', 'express', 'fastify', 'hono', 'bun', 'deno'])
  test(`${name}: the endpoint`, async () => {
    const program = await start(`${name}.mjs`);
    try {
      await checkEndpoint(program, name === 'express');
      if (name === 'node') await checkAgents(program);
    } finally {
      await program.stop();
    }
  });

test('a route handler of Next.js: the endpoint', async () => {
  await checkEndpoint(await importRoute(), false);
  await (globalThis as { rowgraph?: Promise<Rowgraph> }).rowgraph?.then((graph) => graph.close());
});

for (const name of ['yoga', 'apollo', 'stitch'])
  test(`${name}: the schema`, async () => {
    const program = await start(`${name}.mjs`);
    try {
      await checkSchema(program);
      const failed = await ask(program, `mutation { ${insert(70)} ${insert(1)} }`);
      assert.equal(failed.errors?.[0]?.extensions?.code, 'CONSTRAINT_VIOLATION');
      const rows = await database.run('delete from note where id = 70 returning id');
      // Stitching makes an operation of each mutation.
      assert.deepEqual(rows, name === 'stitch' ? [{ id: 70 }] : []);
      if (name !== 'stitch') return;
      const query = '{ hello noteByPk(id: 1) { shout } noteCollection(first: 1) { edges { node { shout id } } } }';
      const edges = [{ node: { shout: 'NOTE 1', id: 1 } }];
      assert.deepEqual(await ask(program, query), { data: { hello: 'Hello', noteByPk: { shout: 'NOTE 1' }, noteCollection: { edges } } });
    } finally {
      await program.stop();
    }
  });

test('all programs of the page have run', () => {
  const tested = ['node', 'express', 'fastify', 'hono', 'route', 'bun', 'deno', 'yoga', 'apollo', 'stitch'];
  assert.deepEqual(
    names,
    tested.map((name) => `${name}.mjs`),
  );
});
