import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { createGraphiqlRoutes } from './graphiql-routes.ts';

const settings = { endpoint: '/graphql/v1', anonKey: null, operations: [], backend: null, operationFolder: null };

test('an asset that could not be read once is read again, and then kept', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-assets-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'page.js.br');
  await writeFile(file, brotliCompressSync('content'));
  const routes = new Map(createGraphiqlRoutes('/graphiql', settings, pathToFileURL(`${folder}/`)));
  const ask = async (encoding: string) => (await routes.get('/graphiql/page.js')!({ headers: { 'accept-encoding': encoding } })).status;
  const encodings = ['br', 'gzip', 'identity'];
  await rename(file, `${file}.away`);
  for (const encoding of encodings) await assert.rejects(ask(encoding), { code: 'ENOENT' });
  await rename(`${file}.away`, file);
  for (const encoding of encodings) assert.equal(await ask(encoding), 200);
  await rm(file);
  for (const encoding of encodings) assert.equal(await ask(encoding), 200);
});

test('an asset is decompressed once for all clients', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-assets-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, 'page.js.br'), brotliCompressSync('content'));
  const serve = new Map(createGraphiqlRoutes('/graphiql', settings, pathToFileURL(`${folder}/`))).get('/graphiql/page.js')!;
  const [first, second] = await Promise.all([serve({ headers: {} }), serve({ headers: {} })]);
  assert.equal(String(first.body), 'content');
  assert.equal(second.body, first.body);
});
