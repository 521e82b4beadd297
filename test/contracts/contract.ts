/**
 * A test of what rowgraph needs of a library beyond its documentation. Where it fails, the message names the library, its version, and the file that
 * has to be changed; docs/decisions.md says what the file gains by it.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** `file`, a path from `src`, needs that `what` holds. */
export function contract(library: string, file: string, what: string, check: () => unknown): void {
  const version = versionOf(library);
  test(`${library} ${version}: ${what}`, async () => {
    try {
      await check();
    } catch (cause) {
      throw new Error(`${library} ${version} has changed. ${path.posix.join('src', file)} relies on this: ${what}.`, { cause });
    }
  });
}

function versionOf(library: string): string {
  if (library === 'node') return process.version;
  const file = new URL(`../../node_modules/${library}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
