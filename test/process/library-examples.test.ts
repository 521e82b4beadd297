/** The programs of the pages about the library run as they are written: each compiles PostgreSQL in a process of its own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const root = path.join(import.meta.dirname, '../..');

for (const page of ['docs/library.md', 'docs/from-pg_graphql.md']) {
  test(`the library example in ${page} runs`, () => runExample(page));
}

/** Runs the block of code after `<!-- runs -->`; its output must be the block after `<!-- prints -->`, if there is one. */
async function runExample(page: string): Promise<void> {
  const text = readFileSync(path.join(root, page), 'utf8');
  const example = /<!-- runs -->\s*```ts\n([\s\S]*?)^```/m.exec(text)?.[1];
  assert.ok(example, `${page} has no block of TypeScript marked <!-- runs -->`);
  const program = example.replace(/from 'rowgraph'/g, "from './src/index.ts'");
  // As in support/pglite.ts: the process ends before compiling PostgreSQL again would pay.
  const flags = ['--wasm-tiering-budget=1000000000', '--input-type=module-typescript', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: root });
  const printed = /<!-- prints -->\s*```\w*\n([\s\S]*?)^```/m.exec(text)?.[1];
  if (printed !== undefined) assert.equal(stdout, printed);
}
