/** The cache folder makes starts faster. A broken one only makes them slower. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { readDevelopmentSecret } from './data-folder.ts';
import { readSnapshot, saveSnapshot } from './open-pglite.ts';

let folder: string;
/** A file in the place of the folder. */
let unusable: string;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-cache-'));
  unusable = path.join(folder, 'file');
  await writeFile(unusable, '');
});
after(() => rm(folder, { recursive: true }));

test('a secret is stored; if it cannot be, there is a new one each time', async () => {
  assert.equal(await readDevelopmentSecret(folder), await readDevelopmentSecret(folder));
  assert.equal(await readFile(path.join(folder, 'jwt-secret'), 'utf8'), await readDevelopmentSecret(folder));
  const [one, other] = [await readDevelopmentSecret(unusable), await readDevelopmentSecret(unusable)];
  assert.ok(one.length >= 32 && one !== other);
});

test('a snapshot is read back; there is none if it could not be written', async () => {
  await saveSnapshot(folder, 'letters', new Blob(['abc']));
  const kept = await readSnapshot(folder, 'letters');
  assert.equal(Buffer.from(await kept!.arrayBuffer()).toString(), 'abc');
  await saveSnapshot(unusable, 'letters', new Blob(['abc']));
  assert.equal(await readSnapshot(unusable, 'letters'), null);
});
