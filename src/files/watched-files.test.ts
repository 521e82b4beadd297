import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { readStamp, readTextFile, WatchedFiles } from './watched-files.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-files-'));
});
after(() => rm(folder, { recursive: true }));

/** Watches a file, but checks it only when the test asks for it. */
async function watch(file: string, mostBytes = 1000) {
  const loaded: string[] = [];
  const failures: string[] = [];
  const files = await WatchedFiles.open(
    {
      read: () => readTextFile(file, mostBytes),
      readStamp: () => readStamp([file]),
      onLoad: (text) => loaded.push(text),
      onFailure: ({ message }) => failures.push(message),
    },
    3_600_000,
  );
  return { files, loaded, failures };
}

test('a file is read again if it was written, replaced, or is a new target of a symbolic link, and not otherwise', async () => {
  const file = path.join(folder, 'changing');
  await writeFile(file, 'one');
  const { files, loaded, failures } = await watch(file);
  await files.refresh();
  await writeFile(file, 'second');
  await Promise.all([files.refresh(), files.refresh(), files.refresh()]);
  await writeFile(`${file}.new`, 'six');
  await rename(`${file}.new`, file);
  await files.refresh();
  await writeFile(`${file}.target`, 'ten');
  await symlink(`${file}.target`, `${file}.link`);
  await rename(`${file}.link`, file);
  await files.refresh();
  await files.refresh();
  assert.deepEqual([loaded, failures, files.current], [['one', 'second', 'six', 'ten'], [], 'ten']);
  files.stop();
});

test('while a file is missing or broken, nothing changes and the error is reported once; then it is read again', async () => {
  const file = path.join(folder, 'broken');
  await writeFile(file, 'good');
  const { files, loaded, failures } = await watch(file);
  const breakages: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['ENOENT', () => rm(file)],
    ['is not a regular file', () => mkdir(file)],
    ['has 1001 bytes; at most 1000 are read', () => rm(file, { recursive: true }).then(() => writeFile(file, 'x'.repeat(1001)))],
    ['has 50000000 bytes', () => truncate(file, 50_000_000)],
    [
      'is not a regular file',
      async () => {
        await rm(file);
        execFileSync('mkfifo', [file]);
      },
    ],
  ];
  for (const [message, breakIt] of breakages) {
    await breakIt();
    failures.length = 0;
    await files.refresh();
    await files.refresh();
    assert.equal(failures.length, 1);
    assert.ok(failures[0]?.includes(message), failures[0]);
    assert.equal(files.current, 'good');
  }
  await rm(file);
  await writeFile(file, '');
  await files.refresh();
  assert.deepEqual([loaded, files.current], [['good', ''], '']);
  files.stop();
});

test('a file that is broken at the start is an error, and is not watched', async () => {
  await assert.rejects(watch(path.join(folder, 'nowhere')), /ENOENT/);
  await assert.rejects(watch(folder), /is not a regular file/);
});

test('files are checked at intervals', async () => {
  const file = path.join(folder, 'timed');
  await writeFile(file, 'one');
  const changed = Promise.withResolvers<string>();
  const source = {
    read: () => readTextFile(file, 1000),
    readStamp: () => readStamp([file]),
    onLoad: (text: string) => void (text === 'two' && changed.resolve(text)),
    onFailure: changed.reject,
  };
  const files = await WatchedFiles.open(source, 5);
  await writeFile(`${file}.new`, 'two');
  await rename(`${file}.new`, file);
  // The watcher's timer does not keep the process alive.
  const alive = setInterval(() => undefined, 1000);
  assert.equal(await changed.promise, 'two');
  clearInterval(alive);
  files.stop();
});
