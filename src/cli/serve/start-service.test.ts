import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../command-error.ts';
import { explainListenError } from './start-service.ts';

const failure = (code: string): Error => Object.assign(new Error(code), { code });

test('an unavailable address is reported with its flag; other errors are bugs', () => {
  const explained = (code: string): unknown => {
    const error = explainListenError(failure(code), '192.0.2.1', 80, '--admin-port');
    return error instanceof CommandError ? [error.exitCode, error.message] : error;
  };
  assert.deepEqual(explained('EADDRINUSE'), [2, '--admin-port 80 is already in use: choose another (0 picks a free one)']);
  assert.deepEqual(explained('EACCES'), [2, '--admin-port 80 needs more privileges than this user has: choose a port of at least 1024']);
  assert.deepEqual(explained('EADDRNOTAVAIL'), [2, '--host 192.0.2.1 is not an address of this machine']);
  const other = failure('EMFILE');
  assert.equal(explainListenError(other, '192.0.2.1', 80), other);
});
