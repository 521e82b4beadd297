/** `rowgraph serve` where its log cannot be written, or is not read. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, removeFolder, startCommand } from './run-command.ts';

const secret = 'a secret that has more than 32 characters';
const skip = process.platform !== 'linux' && 'needs /dev/full, and a pipe that one descriptor opens at both ends';
let home: string;
let databases: TestDatabases;
let database: TestDatabase;
let apiKey: string;

before(async () => {
  home = await makeFolder();
  databases = await startTestDatabases();
  database = await databases.create('create table letter (id int primary key)');
  apiKey = await signKey(secret, 'anon');
});
after(async () => {
  await databases.close();
  await removeFolder(home);
});

/** Each a file descriptor. */
const destinations: Readonly<Record<string, () => number>> = {
  'is full': () => openSync('/dev/full', 'w'),
  'is not read': () => {
    const file = path.join(home, `pipe-${performance.now()}`);
    execFileSync('mkfifo', [file]);
    return openSync(file, constants.O_RDWR);
  },
};

for (const [state, open] of Object.entries(destinations)) {
  for (const workers of ['1', '2']) {
    test(`where the log ${state}, it starts, serves and ends, with ${workers} workers`, { skip }, async () => {
      const stderr = open();
      const flags = ['--database-url', database.url, '--workers', workers, '--access-log', '--log-level', 'debug'];
      const environment = { ROWGRAPH_JWT_SECRET: secret, ROWGRAPH_PORT: '0', ROWGRAPH_UNKNOWN: 'warns before the log is open' };
      const command = startCommand(['serve', ...flags], { home, stderr, environment });
      const [, url = ''] = /^rowgraph serves (\S+)/.exec(await command.waitFor(/\n/)) ?? [];
      // Together their lines are more than a pipe holds.
      const headers = { 'content-type': 'application/json', apiKey };
      const body = JSON.stringify({ query: '{ __typename }' });
      for (let round = 0; round < 50; round += 1) {
        const ask = async () => (await fetch(url, { method: 'POST', headers, body })).status;
        assert.deepEqual(new Set(await Promise.all(Array.from({ length: 10 }, ask))), new Set([200]));
      }
      const { code, signal } = await command.stop('SIGTERM');
      assert.deepEqual({ code, signal }, { code: 0, signal: null });
      closeSync(stderr);
    });
  }
}
