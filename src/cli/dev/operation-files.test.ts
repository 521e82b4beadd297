import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { KeptOperation, SavedOperation } from '../../http/routes/graphiql-page.ts';
import { type OperationFiles, openOperationFiles } from './operation-files.ts';

async function open(t: TestContext): Promise<{ readonly folder: string; readonly files: OperationFiles }> {
  const above = await mkdtemp(path.join(tmpdir(), 'rowgraph-operations-'));
  t.after(() => rm(above, { recursive: true }));
  const folder = path.join(above, 'operations');
  return { folder, files: await openOperationFiles(folder) };
}

function keptOf(answer: KeptOperation): SavedOperation {
  assert.ok('kept' in answer && answer.kept !== null, JSON.stringify(answer));
  return answer.kept;
}

const change = (query: string, variables = '') => ({ query, variables });

test('an operation is a file in folders, its variables a file beside it, and both move and go together', async (t) => {
  const { folder, files } = await open(t);
  assert.deepEqual(await files.list(), []);
  const first = keptOf(await files.save('reports/Monthly', change('{ a }\n', '{"n": 1}'), null));
  assert.equal(await readFile(path.join(folder, 'reports/Monthly.graphql'), 'utf8'), '{ a }\n');
  assert.equal(await readFile(path.join(folder, 'reports/Monthly.variables.json'), 'utf8'), '{"n": 1}');
  await writeFile(path.join(folder, 'Outside.graphql'), '{ b }');
  assert.deepEqual(
    (await files.list()).map(({ name, query, variables }) => [name, query, variables]),
    [
      ['Outside', '{ b }', ''],
      ['reports/Monthly', '{ a }\n', '{"n": 1}'],
    ],
  );
  const moved = keptOf(await files.move('reports/Monthly', 'Yearly', first.version));
  assert.deepEqual(
    (await readdir(folder)).sort(),
    ['Outside.graphql', 'Yearly.graphql', 'Yearly.variables.json'],
    'the empty folder is gone',
  );
  const plain = keptOf(await files.save('Yearly', change('{ c }'), moved.version));
  assert.deepEqual([plain.query, plain.variables], ['{ c }', '']);
  assert.deepEqual(await files.remove('Yearly', plain.version), { kept: null });
  assert.deepEqual(await readdir(folder), ['Outside.graphql']);
});

test('what an editor outside or another tab has changed is not overwritten', async (t) => {
  const { folder, files } = await open(t);
  const saved = keptOf(await files.save('A', change('{ a }'), null));
  const file = path.join(folder, 'A.graphql');
  await writeFile(file, '{ outside }');
  for (const answer of [
    await files.save('A', change('{ mine }'), saved.version),
    await files.save('A', change('{ mine }'), null),
    await files.move('A', 'B', saved.version),
    await files.remove('A', saved.version),
  ])
    assert.ok('stale' in answer && answer.stale?.query === '{ outside }', JSON.stringify(answer));
  assert.equal(await readFile(file, 'utf8'), '{ outside }');
  await rm(file);
  assert.deepEqual(await files.save('A', change('{ mine }'), saved.version), { stale: null }, 'a removed file is not made again unasked');
  const both = await Promise.all(['{ one }', '{ two }'].map((query) => files.save('New', change(query), null)));
  assert.deepEqual(both.map((answer) => 'kept' in answer).sort(), [false, true], 'one of two saves at once');
  const a = keptOf(await files.save('A', change('{ a }'), null));
  const taken = await files.move('A', 'New', a.version);
  assert.ok('stale' in taken && taken.stale?.name === 'New', 'a name that is taken stays as it is');
});

test('no name leads out of the folder, and none is a trap of another system', async (t) => {
  const { folder, files } = await open(t);
  const wrong = [
    '',
    '.',
    '..',
    '../x',
    'a/../../x',
    '/etc/x',
    'a//b',
    'a/',
    '/a',
    '.hidden',
    'a/.git/x',
    'a\\..\\x',
    'C:x',
    'a\0b',
    'x.',
    'x ',
    'a/. /x',
  ];
  const long = ['con', 'a/NUL.x', 'x'.repeat(101), `${'a/'.repeat(9)}x`, 'x.graphql', '%2e%2e/x', 'a\nb', '~/x', '$HOME', '‮x'];
  for (const name of [...wrong, ...long]) {
    assert.throws(() => files.save(name, change('{ a }'), null), { code: 'BAD_REQUEST' }, JSON.stringify(name));
    assert.throws(() => files.remove(name, 'v'), { code: 'BAD_REQUEST' }, JSON.stringify(name));
    assert.throws(() => files.move('a', name, 'v'), { code: 'BAD_REQUEST' }, JSON.stringify(name));
  }
  assert.deepEqual(await readdir(path.dirname(folder)), [], 'nothing was written');
  for (const name of ['Übersicht', 'v1.2', '日本/月次', 'a (copy)', 'é-1+x']) keptOf(await files.save(name, change('{ a }'), null));
});

test('symbolic links are not followed', async (t) => {
  const { folder, files } = await open(t);
  const outside = path.join(path.dirname(folder), 'outside');
  await mkdir(outside);
  await mkdir(folder);
  await writeFile(path.join(outside, 'secret.graphql'), '{ secret }');
  await symlink(outside, path.join(folder, 'link'));
  await symlink(path.join(outside, 'secret.graphql'), path.join(folder, 'Secret.graphql'));
  assert.deepEqual(await files.list(), []);
  for (const name of ['link/secret', 'link/new'])
    await assert.rejects(files.save(name, change('{ a }'), null), { code: 'BAD_REQUEST', message: /"link" in ".*" is not a folder/ });
  keptOf(await files.save('Secret', change('{ mine }'), null));
  assert.deepEqual(await readdir(outside), ['secret.graphql']);
  assert.equal(await readFile(path.join(outside, 'secret.graphql'), 'utf8'), '{ secret }', 'the link is replaced, not what it names');
});

test('what cannot be saved is said: too large, or a folder that cannot be written', async (t) => {
  const { folder, files } = await open(t);
  await assert.rejects(files.save('Large', change(`# ${'x'.repeat(300_000)}`), null), { code: 'BAD_REQUEST', message: /at most 256 KB/ });
  await writeFile(path.join(path.dirname(folder), 'file'), '');
  await assert.rejects(openOperationFiles(path.join(path.dirname(folder), 'file')), { message: /this is a file/ });
  await writeFile(path.join(folder, 'a'), '');
  await assert.rejects(files.save('a/b', change('{ a }'), null), { code: 'BAD_REQUEST', message: /is not a folder/ });
  assert.deepEqual(await readdir(folder), ['a'], 'no part of a file stays');
});
