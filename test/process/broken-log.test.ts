/** `rowgraph serve` where its log cannot be written, or is not read. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';
import { makeFolder, removeFolder, startCommand } from './run-command.ts';

const secret = 'a secret that has more than 32 characters';
const skip = process.platform !== 'linux' && 'needs /dev/full, /proc, and a pipe that one descriptor opens at both ends';
let home: string;
let databases: TestDatabases;
let database: TestDatabase;
let apiKey: string;

before(async () => {
  home = await makeFolder();
  databases = await startTestDatabases();
  database = await databases.create(`create table letter (id int primary key);
    create function held() returns int stable language sql as 'select 7 from pg_advisory_xact_lock_shared(1)';`);
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
      // Nothing that hangs would be ended by force before the test is.
      const patience = ['--close-timeout', '1h'];
      const flags = ['--database-url', database.url, '--workers', workers, '--access-log', '--log-level', 'debug', ...patience];
      const environment = {
        ROWGRAPH_JWT_SECRET: secret,
        ROWGRAPH_PORT: '0',
        ROWGRAPH_POOL_SIZE: '1',
        ROWGRAPH_UNKNOWN: 'warns before the log is open',
      };
      const command = startCommand(['serve', ...flags], { home, stderr, environment });
      const [, url = ''] = /^rowgraph serves (\S+)/.exec(await command.waitFor(/\n/)) ?? [];
      // Together their lines are more than a pipe holds.
      const headers = { 'content-type': 'application/json', apiKey };
      const ask = async (query: string) => (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
      for (let round = 0; round < 50; round += 1) {
        for (const answer of await Promise.all(Array.from({ length: 10 }, () => ask('{ __typename }'))))
          assert.deepEqual(answer, { data: { __typename: 'Query' } });
      }
      // One worker has more to log after the other has exited.
      const holder = await database.connect();
      await holder.query('select pg_advisory_lock(1)');
      const asked = ask('{ held }');
      await database.untilRunning('held', 1);
      const stopped = command.stop('SIGTERM');
      const { pid } = command.process;
      const countWorkers = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).length;
      await until(async () => countWorkers() <= 1);
      await holder.query('select pg_advisory_unlock(1)');
      assert.deepEqual(await asked, { data: { held: 7 } });
      const { code, signal } = await stopped;
      assert.deepEqual({ code, signal }, { code: 0, signal: null });
      await holder.end();
      closeSync(stderr);
    });
  }
}
