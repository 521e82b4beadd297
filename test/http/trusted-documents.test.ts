/** Trusted documents: named by their id, read from files that may change, and as the only ones that a role may run. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { DocumentCheck } from '../../src/cli/serve/trusted-documents.ts';
import type { Event } from '../../src/events.ts';
import { WatchedDocuments } from '../../src/http/documents/trusted-document-files.ts';
import { startTestGraph } from '../support/test-graph.ts';
import { until } from '../support/until.ts';
import { rawResponse, secret, startTestServer, type TestServer } from './start-test-server.ts';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const texts = { relay: 'query Relay { a }', hashed: '{ hashed }', prefixed: '{ prefixed }', mutation: 'mutation { b }' };
const map = {
  '3be4abb81fa595e25eb725b2c6a87508': texts.relay,
  [hashOf(texts.hashed)]: texts.hashed,
  [`sha256:${hashOf(texts.prefixed)}`]: texts.prefixed,
  mutation: texts.mutation,
};

let folder: string;
let file: string;
let documents: WatchedDocuments;
let open: TestServer;
let strict: TestServer;
const events: Event[] = [];
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-documents-'));
  file = path.join(folder, 'documents.json');
  await writeFile(file, JSON.stringify(map));
  documents = await WatchedDocuments.open(file, (event) => events.push(event), 60_000);
  open = await startTestServer({ trustedDocuments: documents, maxBatch: 5 });
  strict = await startTestServer({
    trustedDocuments: documents,
    untrustedRoles: ['service_role'],
    persistedQueries: 100_000,
    maxBatch: 5,
  });
});
after(async () => {
  documents.stop();
  await Promise.all([open.close(), strict.close()]);
  await rm(folder, { recursive: true });
});

/** The status and the error of a request, or the document that ran. */
async function post(to: TestServer, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const ran = to.calls.length;
  const response = await to.post({ body, headers });
  const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
  if (errors === undefined) return to.calls.at(-1)?.request.query;
  assert.equal(to.calls.length, ran);
  return [response.status, errors[0]?.extensions.code];
}

const persisted = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });

test('a document is named by its id, or by its hash in each way that clients write it', async () => {
  for (const to of [open, strict]) {
    assert.equal(await post(to, { documentId: '3be4abb81fa595e25eb725b2c6a87508', variables: { x: 1 } }), texts.relay);
    assert.deepEqual(to.calls.at(-1)?.request.variables, { x: 1 });
    for (const name of ['hashed', 'prefixed'] as const) {
      const hash = hashOf(texts[name]);
      for (const named of [
        { documentId: hash },
        { documentId: `sha256:${hash}` },
        persisted(hash),
        { documentId: hash, ...persisted(hash) },
      ])
        assert.equal(await post(to, named), texts[name]);
      assert.equal(await post(to, { query: texts[name], ...persisted(hash) }), texts[name]);
    }
    assert.equal(await post(to, { documentId: 'mutation', query: null, extensions: null }), texts.mutation);
  }
});

test('a document is named in a URL, and in a batch', async () => {
  const response = await fetch(`${strict.endpoint}?documentId=sha256:${hashOf(texts.hashed)}&variables=%7B%22x%22:1%7D`, {
    headers: { apiKey: strict.anonKey },
  });
  assert.equal(response.status, 200);
  assert.deepEqual([strict.calls.at(-1)?.request.query, strict.calls.at(-1)?.options.readOnly], [texts.hashed, true]);
  const batch = await strict.post({ body: [{ documentId: 'mutation' }, { query: '{ other }' }, { documentId: 'unknown' }] });
  const all = (await batch.json()) as { errors?: { extensions: { code: string } }[] }[];
  assert.deepEqual(
    all.map(({ errors }) => errors?.[0]?.extensions.code),
    [undefined, 'UNTRUSTED_DOCUMENT', 'UNTRUSTED_DOCUMENT'],
  );
});

test('an id that is not known is refused, names of the prototype among them', async () => {
  const ids = [
    'x',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'MUTATION',
    ' mutation',
    'sha256:',
    'sha256:mutation ',
    '../x',
    '\0',
  ];
  for (const documentId of ids) {
    assert.deepEqual(await post(open, { documentId }), [400, 'PERSISTED_DOCUMENT_NOT_FOUND'], documentId);
    const modern = await post(open, { documentId }, { accept: 'application/graphql-response+json' });
    assert.deepEqual(modern, [400, 'PERSISTED_DOCUMENT_NOT_FOUND'], documentId);
    assert.deepEqual(await post(strict, { documentId }), [403, 'UNTRUSTED_DOCUMENT'], documentId);
    assert.deepEqual(await post(strict, persisted(documentId)), [403, 'UNTRUSTED_DOCUMENT'], documentId);
  }
  assert.deepEqual(await post(open, { documentId: hashOf(texts.hashed).toUpperCase() }), [400, 'PERSISTED_DOCUMENT_NOT_FOUND']);
  for (const documentId of ['', 1, true, [], {}, ['mutation']]) assert.deepEqual(await post(open, { documentId }), [400, 'BAD_REQUEST']);
  assert.equal(await post(open, { documentId: null, query: '{ plain }' }), '{ plain }');
});

test('an id and a query that contradict each other are refused', async () => {
  for (const to of [open, strict]) {
    assert.deepEqual(await post(to, { documentId: 'mutation', query: '{ other }' }), [400, 'BAD_REQUEST']);
    assert.equal(await post(to, { documentId: 'mutation', query: texts.mutation }), texts.mutation);
    const hash = hashOf(texts.hashed);
    assert.deepEqual(await post(to, { query: '{ other }', ...persisted(hash) }), [400, 'BAD_REQUEST']);
    assert.deepEqual(await post(to, { documentId: 'mutation', ...persisted(hash) }), [400, 'BAD_REQUEST']);
  }
  assert.deepEqual(await post(open, { documentId: 'unknown', query: '{ other }' }), [400, 'BAD_REQUEST']);
});

test('only trusted documents run, except for the roles that are named', async () => {
  assert.equal(await post(open, { query: '{ other }' }), '{ other }');
  const authorization = `Bearer ${await signKey(secret, 'authenticated', '1h')}`;
  for (const headers of [{}, { authorization }]) {
    for (const query of ['{ other }', '{ __schema { types { name } } }', `${texts.relay} `, ''])
      assert.deepEqual(await post(strict, { query }, headers), [403, 'UNTRUSTED_DOCUMENT']);
    assert.equal(await post(strict, { query: texts.relay }, headers), texts.relay);
    assert.deepEqual(await post(strict, { query: '{ other }', ...persisted(hashOf('{ other }')) }, headers), [403, 'UNTRUSTED_DOCUMENT']);
  }
  const service = { authorization: `Bearer ${await signKey(secret, 'service_role', '1h')}` };
  assert.equal(await post(strict, { query: '{ other }', ...persisted(hashOf('{ other }')) }, service), '{ other }');
  assert.equal(await post(strict, persisted(hashOf('{ other }')), service), '{ other }');
  // What one role has stored, another may not run.
  assert.deepEqual(await post(strict, persisted(hashOf('{ other }'))), [403, 'UNTRUSTED_DOCUMENT']);
  const byUrl = await fetch(`${strict.endpoint}?query=%7Bother%7D`, { headers: { apiKey: strict.anonKey } });
  assert.equal(byUrl.status, 403);
});

test('files are read again when they change, and what is broken changes nothing', async () => {
  const place = path.join(folder, 'changing.json');
  const seen: Event[] = [];
  await writeFile(place, '{"a":"{ a }"}');
  const changing = await WatchedDocuments.open(place, (event) => seen.push(event), 10);
  try {
    await writeFile(place, '{"a":"{ a2 }","b":"{ b }"}');
    await until(() => changing.get('b') !== undefined);
    assert.equal(changing.get('a')?.text, '{ a2 }');
    assert.ok(changing.hasText('{ b }') && !changing.hasText('{ a }'));
    const failures = (): number => seen.filter(({ kind }) => kind === 'files-load-failed').length;
    await rm(place);
    await until(() => failures() === 1);
    await writeFile(place, '{"a":');
    await until(() => failures() === 2);
    // The second of these begins after the first, which another may have begun.
    await changing.refresh();
    await changing.refresh();
    assert.equal(failures(), 2, 'a problem is reported once');
    assert.equal(changing.get('b')?.text, '{ b }');
    await writeFile(`${place}.new`, '{"c":"{ c }"}');
    await rename(`${place}.new`, place);
    await until(() => changing.get('c') !== undefined);
    assert.equal(changing.get('b'), undefined);
  } finally {
    changing.stop();
  }
});

test('a folder has the documents of all its files', async () => {
  const place = path.join(folder, 'many');
  await mkdir(place);
  await writeFile(path.join(place, 'a.json'), '{"a":"{ a }","same":"{ s }","__proto__":"{ proto }"}');
  const operations = [{ id: 'm', name: 'M', type: 'query', body: '{ m }' }];
  await writeFile(path.join(place, 'b.json'), JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations }));
  await writeFile(path.join(place, 'c.json'), '{"same":"{ s }"}');
  await writeFile(path.join(place, 'notes.txt'), 'not JSON');
  const many = await WatchedDocuments.open(place, () => {}, 60_000);
  assert.deepEqual([...many.all.keys()], ['a', 'same', '__proto__', 'm']);
  assert.deepEqual([many.get('__proto__')?.text, many.get('constructor'), many.get('m')?.text], ['{ proto }', undefined, '{ m }']);
  await rm(path.join(place, 'b.json'));
  await writeFile(path.join(place, 'd.json'), '{"d":"{ d }"}');
  await Promise.all([many.refresh(), many.refresh()]);
  await rm(path.join(place, 'd.json'));
  await Promise.all([many.refresh(), rm(path.join(place, 'c.json'))]);
  await many.refresh();
  assert.deepEqual([...many.all.keys()], ['a', 'same', '__proto__']);
  many.stop();
});

test('files that are wrong are an error that names them', async () => {
  const bad: Record<string, RegExp> = {
    '': /bad\.json is not JSON/,
    'no\njson': /bad\.json is not JSON$/,
    '[]': /bad\.json must hold a JSON object/,
    null: /must hold a JSON object/,
    '{"a":1}': /the document of "a" must be a string/,
    '{"a":{"query":"{ a }"}}': /the document of "a" must be a string, or an object/,
    '{"a":{"document":7}}': /the document of "a" must be a string/,
    '{"":"{ a }"}': /an id is empty/,
    '{"format":"apollo-persisted-query-manifest","operations":[{"id":1}]}': /an id is empty/,
  };
  const place = path.join(folder, 'bad.json');
  for (const [content, message] of Object.entries(bad)) {
    await writeFile(place, content);
    await assert.rejects(
      WatchedDocuments.open(place, () => {}),
      message,
    );
  }
  await assert.rejects(
    WatchedDocuments.open(path.join(folder, 'nowhere'), () => {}),
    /ENOENT/,
  );
  const conflict = path.join(folder, 'conflict');
  await mkdir(conflict);
  await assert.rejects(
    WatchedDocuments.open(conflict, () => {}),
    /has no \.json file/,
  );
  await writeFile(path.join(conflict, 'a.json'), '{"x":"{ a }"}');
  await writeFile(path.join(conflict, 'b.json'), '{"x":"{ b }"}');
  await assert.rejects(
    WatchedDocuments.open(conflict, () => {}),
    /b\.json: another file has a different document for the id "x"/,
  );
});

test('documents are checked for each role and compiled, again after each change of files and schema', async (context) => {
  const { graph, database, stop } = await startTestGraph(`
    create table note (id int primary key, text text);
    revoke all on note from anon`);
  context.after(stop);
  const place = path.join(folder, 'report.json');
  const notes = 'query Notes($id: Int) { noteCollection(filter: {id: {eq: $id}}) { edges { node { id } } } } query Other { __typename }';
  await writeFile(
    place,
    JSON.stringify({ good: '{ __typename }', notes, bad: '{ nothing }', broken: '{', late: '{ lateCollection { totalCount } }' }),
  );
  const check = new DocumentCheck();
  const reporting = await WatchedDocuments.open(place, (event) => check.notice(event), 60_000);
  const reports: Extract<Event, { kind: 'documents-checked' }>[] = [];
  /** What is reported next of each role. */
  const next = async (): Promise<string[]> => {
    await until(() => reports.length >= 2);
    return reports.splice(0, 2).map(({ role, count, problems }) => `${role} ${count}: ${problems.map((problem) => problem.split(':')[0])}`);
  };
  const roles = ['anon', 'nobody', 'authenticated'];
  check.begin({ documents: reporting, graph, roles, report: (event) => event.kind === 'documents-checked' && reports.push(event) });
  assert.deepEqual(await next(), ['anon 5: notes,bad,broken,late', 'authenticated 5: bad,broken,late']);
  const readVariant = () => graph.readCaches().find(({ name }) => name === 'variant')!;
  const { entries, misses } = readVariant();
  // Both variants of Notes (with and without $id), Other and { __typename } are there before anybody asks.
  for (const request of [
    { query: notes, operationName: 'Notes' },
    { query: notes, operationName: 'Notes', variables: { id: 7 } },
    { query: notes, operationName: 'Other' },
    { query: '{ __typename }' },
  ])
    assert.equal((await graph.execute(request, { role: 'authenticated' })).errors, undefined);
  assert.deepEqual([readVariant().entries, readVariant().misses], [entries, misses]);
  await database.run(
    `create table late (id int); comment on table late is '@graphql({"totalCount": {"enabled": true}, "primary_key_columns": ["id"]})'`,
  );
  await graph.reload();
  check.notice({ kind: 'schema-loaded', version: null, seconds: 0 });
  assert.deepEqual(await next(), ['anon 5: notes,bad,broken', 'authenticated 5: bad,broken']);
  await writeFile(place, '{"bad":"{ nothing2 }"}');
  await reporting.refresh();
  assert.deepEqual(await next(), ['anon 1: bad', 'authenticated 1: bad']);
  check.end();
  check.notice({ kind: 'schema-loaded', version: null, seconds: 0 });
  reporting.stop();
  assert.deepEqual(reports, []);
});

test('a document has a Cache-Control, in its own entry or in another file', async () => {
  const place = path.join(folder, 'caching');
  await mkdir(place);
  const operations = [{ id: 'm', name: 'M', type: 'query', body: '{ m }', cacheControl: 'max-age=3' }];
  await writeFile(
    path.join(place, 'a.json'),
    '{"own":{"document":"{ own }","cacheControl":"public, max-age=1"},"plain":"{ plain }","other":"{ other }"}',
  );
  await writeFile(path.join(place, 'b.json'), JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations }));
  await writeFile(path.join(place, 'c.json'), '{"other":{"cacheControl":"max-age=2"}}');
  const caching = await WatchedDocuments.open(place, () => {}, 60_000);
  const server = await startTestServer({
    trustedDocuments: caching,
    cacheControl: 'no-cache',
    execute: async ({ query }) => (query === '{ m }' ? rawResponse('{"errors":[{}]}', 'BAD_USER_INPUT') : rawResponse('{"data":{}}')),
  });
  const controlOf = async (search: string): Promise<string | null> =>
    (await fetch(`${server.endpoint}?${search}`, { headers: { apiKey: server.anonKey } })).headers.get('cache-control');
  assert.deepEqual(await Promise.all(['own', 'plain', 'other', 'm'].map((id) => controlOf(`documentId=${id}`))), [
    'public, max-age=1',
    'no-cache',
    'max-age=2',
    // An error is never kept.
    'no-store',
  ]);
  assert.equal(await controlOf('query=%7Bown%7D'), 'no-cache');
  const byPost = await server.post({ body: { documentId: 'own' } });
  assert.equal(byPost.headers.get('cache-control'), 'no-store');
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['{"alone":{"cacheControl":"max-age=1"}}', /"alone" has a "cacheControl" but no document/],
    ['{"other":{"cacheControl":"max-age=9"}}', /another file has a different "cacheControl" for the id "other"/],
    ['{"x":{"document":"{ x }","cacheControl":"a\\r\\nset-cookie: b"}}', /a "cacheControl" that must be directives/],
    ['{"x":{"document":"{ x }","cacheControl":7}}', /must have a string as "cacheControl"/],
    ['{"x":{"document":"{ x }","maxAge":7}}', /must be a string, or an object with/],
    ['{"x":{}}', /must be a string, or an object with/],
  ];
  for (const [content, message] of wrong) {
    await writeFile(path.join(place, 'd.json'), content);
    await assert.rejects(
      WatchedDocuments.open(place, () => {}),
      message,
    );
  }
  caching.stop();
  await server.close();
});
