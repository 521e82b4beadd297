/**
 * A shared cache, nginx as it is by default, in front of responses that are declared public although each caller has rows of its own: nobody gets those of
 * another. Runs where nginx is on the path.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { secret } from '../http/start-test-server.ts';
import { sendRequest } from '../support/send-request.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { address, isInstalled, nginxIn, startProxy, stopProxy } from './start-proxy.ts';

const setup = `
  create table note (id int primary key, owner text);
  insert into note values (1, 'ada'), (2, 'bob'), (3, null);
  alter table note enable row level security;
  create policy own on note using (owner is not distinct from nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub');
`;
const notes = '{ noteCollection { edges { node { id } } } }';

interface Answer {
  readonly status: number;
  /** Whether nginx had it: HIT, or MISS. */
  readonly cache: unknown;
  /** The id of the only row, or the code of the error. */
  readonly content: unknown;
}

describe('nginx', { skip: (await isInstalled('nginx', '-v')) ? false : 'there is no nginx on the path, or this is not Linux' }, () => {
  let folder: string;
  let database: TestGraph;
  let server: RunningServer;
  let port: number;
  let child: ChildProcess;
  let keys: Readonly<Record<'anon' | 'authenticated' | 'ada' | 'bob', string>>;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-shared-cache-'));
    database = await startTestGraph(setup);
    const telemetry = createTelemetry({ level: 'silent' });
    server = await startServer({ graph: database.graph, jwtSecret: secret, telemetry, cacheControl: 'public, max-age=3600' });
    const sign = (sub: string): Promise<string> => signKey(secret, 'authenticated', '1h', { sub });
    keys = {
      ...{ anon: await signKey(secret, 'anon'), authenticated: await signKey(secret, 'authenticated') },
      ...{ ada: await sign('ada'), bob: await sign('bob') },
    };
    const prepare = ({ own, server: to }: { own: number; server: number }): Promise<void> => {
      const location = `proxy_pass http://127.0.0.1:${to}; proxy_set_header Host $host; proxy_cache responses; add_header x-cache $upstream_cache_status always;`;
      const http = `proxy_cache_path ${folder}/cache keys_zone=responses:1m; server { listen ${address}:${own}; location / { ${location} } }`;
      return writeFile(path.join(folder, 'nginx-main.conf'), nginxIn(folder, http).file);
    };
    ({ port, child } = await startProxy({ command: 'nginx', flags: nginxIn(folder, '').flags, prepare }, folder, server.port));
  });
  after(async () => {
    await stopProxy(child);
    await server?.close();
    await database?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** By GET, or by POST with a body. */
  async function ask(query: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer> {
    const target = body === undefined ? `/graphql/v1?${new URLSearchParams({ query })}` : '/graphql/v1';
    const method = body === undefined ? 'GET' : 'POST';
    const all = { host: 'api.example.com', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers };
    const response = await sendRequest({ host: address, port, path: target, method, headers: all }, body);
    const { data, errors } = response.body === '' ? {} : JSON.parse(response.body);
    const content = errors?.[0].extensions.code ?? data?.noteCollection?.edges.map(({ node }: { node: { id: number } }) => node.id);
    return { status: response.status, cache: response.headers['x-cache'], content };
  }

  const callers = (): Readonly<Record<string, readonly [headers: Readonly<Record<string, string>>, id: number]>> => ({
    'the anonymous key': [{ apikey: keys.anon }, 3],
    'the key of another role': [{ apikey: keys.authenticated }, 3],
    'a token beside the key': [{ apikey: keys.anon, authorization: `Bearer ${keys.ada}` }, 1],
    'another token beside the same key': [{ apikey: keys.anon, authorization: `Bearer ${keys.bob}` }, 2],
    'a token as the key': [{ apikey: keys.ada }, 1],
  });

  test('each caller gets rows of its own, from the cache too, whoever asked before', async () => {
    for (const cache of ['MISS', 'HIT', 'HIT'])
      for (const [name, [headers, id]] of Object.entries(callers()))
        assert.deepEqual(await ask(notes, headers), { status: 200, cache, content: [id] }, name);
  });

  test('who has no key, or a wrong one, gets nothing from the cache, and an error is not kept', async () => {
    for (const headers of [{}, { apikey: 'x' }, { apikey: keys.anon, authorization: 'Bearer x' }, { authorization: `Bearer ${keys.ada}` }])
      for (const _round of ['first', 'second'])
        assert.deepEqual(await ask(notes, headers as never), { status: 401, cache: 'MISS', content: 'UNAUTHENTICATED' });
    for (const _round of ['first', 'second']) assert.equal((await ask('{ nothing }', { apikey: keys.anon })).cache, 'MISS');
  });

  test('another host, origin or media type is another response, although the cache takes all hosts for one', async () => {
    const query = `${notes} # variants`;
    const base = { apikey: keys.ada };
    const variants = [base, { ...base, host: 'other.example.com' }, { ...base, origin: 'https://app.example' }];
    for (const headers of [...variants, { ...base, accept: 'application/graphql-response+json' }])
      assert.deepEqual([(await ask(query, headers)).cache, (await ask(query, headers)).cache], ['MISS', 'HIT'], JSON.stringify(headers));
  });

  test('what is sent by POST always runs', async () => {
    const body = JSON.stringify({ query: notes });
    for (const _round of ['first', 'second']) assert.deepEqual((await ask(notes, { apikey: keys.bob }, body)).content, [2]);
    assert.deepEqual((await ask('mutation { __typename }', { apikey: keys.ada })).content, 'METHOD_NOT_ALLOWED');
  });
});
