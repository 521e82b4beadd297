import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { changeProject } from './project-files.ts';

const reference = 'a'.repeat(20);
const entry = { databaseUrl: 'postgres://localhost/shop' };
const isRoot = process.getuid?.() === 0;

test('a file keeps its mode, and its owner even if root changes it; a new file belongs to the owner of the folder', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-projects-'));
  t.after(() => rm(folder, { recursive: true }));
  const [uid, gid] = isRoot ? [65534, 65533] : [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const accessOf = async (file: string) => {
    const found = await stat(file);
    return { uid: found.uid, gid: found.gid, mode: found.mode & 0o777 };
  };
  const file = path.join(folder, 'projects.json');
  await writeFile(file, '{}');
  await chmod(file, 0o640);
  await chown(file, uid, gid);
  await changeProject(file, reference, () => entry);
  assert.deepEqual(await accessOf(file), { uid, gid, mode: 0o640 });
  const folderOfFiles = path.join(folder, 'projects');
  await mkdir(folderOfFiles);
  await chown(folderOfFiles, uid, gid);
  await changeProject(folderOfFiles, reference, () => entry);
  assert.deepEqual(await accessOf(path.join(folderOfFiles, `${reference}.json`)), { uid, gid, mode: 0o600 });
});
