import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../command-error.ts';
import { checkPackages } from './dev.ts';

test('missing packages of the embedded PostgreSQL are named in one line, with the command to run', () => {
  assert.doesNotThrow(() => checkPackages());
  const resolve = (name: string): string => {
    if (name === '@electric-sql/pglite-pgvector') throw new Error('ERR_MODULE_NOT_FOUND');
    return `file:///${name}`;
  };
  assert.throws(
    () => checkPackages(resolve),
    (error) =>
      error instanceof CommandError &&
      error.exitCode === 1 &&
      /^.*npm install @electric-sql\/pglite-pgvector@\d\S+".*$/.test(error.message),
  );
});
