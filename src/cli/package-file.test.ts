import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from './command-error.ts';
import { agentPackages, checkPackages, embeddedPackages } from './package-file.ts';

for (const [missing, packages] of [
  ['@electric-sql/pglite-pgvector', embeddedPackages],
  ['@modelcontextprotocol/server', agentPackages],
] as const) {
  test(`${missing} is named in one line if it is missing, with the command to run`, () => {
    assert.doesNotThrow(() => checkPackages(packages));
    const resolve = (name: string): string => {
      if (name === missing) throw new Error('ERR_MODULE_NOT_FOUND');
      return `file:///${name}`;
    };
    assert.throws(
      () => checkPackages(packages, resolve),
      (error) =>
        error instanceof CommandError && error.exitCode === 1 && new RegExp(`^.*npm install ${missing}@\\d\\S+".*$`).test(error.message),
    );
  });
}
