/** Which of rowgraph's dependencies are loaded by the library, by the handlers that mount the endpoint, and by the command line. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const root = path.join(import.meta.dirname, '..');

/** Records every file that is imported or required, and prints the list. */
const programOf = (entry: string): string => `import { registerHooks } from 'node:module';
const files = new Set();
registerHooks({ load: (url, context, next) => (files.add(url), next(url, context)) });
await import('./src/${entry}');
console.log(JSON.stringify([...files]));`;

async function packagesOf(entry: string): Promise<readonly string[]> {
  const flags = ['--input-type=module', '--eval', programOf(entry)];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: root });
  const files = JSON.parse(stdout) as string[];
  return files.flatMap((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
}

for (const entry of ['http/transport/create-node-handler.ts', 'http/transport/create-fetch-handler.ts'])
  test(`importing ${entry} loads only jose and lru-cache`, async () => {
    assert.deepEqual([...new Set(await packagesOf(entry))].sort(), ['jose', 'lru-cache']);
  });

test('importing the library loads only pg, graphql and lru-cache', async () => {
  const packages = await packagesOf('index.ts');
  const allowed = new Set([...withDependencies('pg'), 'graphql', 'lru-cache']);
  assert.deepEqual(
    [...new Set(packages)].filter((name) => !allowed.has(name)),
    [],
  );
  for (const name of ['pg', 'graphql', 'lru-cache']) assert.ok(packages.includes(name), name);
});

test('the command line loads only commander before it knows which command to run', async () => {
  assert.deepEqual([...new Set(await packagesOf('cli/program.ts'))], ['commander']);
});

/** A package with everything that it installs. */
function withDependencies(name: string): string[] {
  const file = path.join(root, 'node_modules', name, 'package.json');
  const { dependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as { dependencies?: Record<string, string> };
  return [name, ...Object.keys(dependencies).flatMap(withDependencies)];
}
