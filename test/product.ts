/**
 * What `npm run test:product` runs: everything that users install, mount, connect to, read and open. It runs `npm run test:package`,
 * `test:mount`, `test:clients`, `test:site` and `test:page` concurrently, with a single build.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installOnce } from './clients/install-once.ts';
import { packPackage } from './package/pack-package.ts';
import { runChecks, testsOf } from './run-checks.ts';

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { scripts: Record<string, string> };
const files = ['test:package', 'test:mount', 'test:clients', 'test:site', 'test:page'].flatMap((name) =>
  scripts[name]!.split(' ').filter((word) => word.endsWith('.ts') && word !== 'test/run-files.ts'),
);

const folder = mkdtempSync(path.join(tmpdir(), 'rowgraph-product-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

const [tarball] = await Promise.all([packPackage(folder), installOnce()]);
const tests = testsOf('package, mounted programs, clients, site and page', files);
await runChecks('npm run test:product', [{ ...tests, environment: { ...tests.environment, PACKED_ROWGRAPH: tarball } }]);
