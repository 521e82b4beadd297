/**
 * What `npm run test:product` runs: everything that users install, mount, connect to, read and open. It runs `npm run test:package`,
 * `test:mount`, `test:clients`, `test:site` and `test:page` concurrently, with a single build.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installOnce } from './clients/install-once.ts';
import { packPackage } from './package/pack-package.ts';
import { runChecks, testsOf } from './run-checks.ts';

const files = [
  'test/page/page.ts',
  'test/page/rows.ts',
  'test/page/operations.ts',
  'test/page/own-database.ts',
  'test/clients/clients.ts',
  'test/clients/examples.ts',
  'test/clients/init.ts',
  'test/package/installed-package.ts',
  'test/mount/mounted-programs.ts',
  'test/site/site.ts',
];

const folder = mkdtempSync(path.join(tmpdir(), 'rowgraph-product-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

const [tarball] = await Promise.all([packPackage(folder), installOnce()]);
const tests = testsOf('package, mounted programs, clients, site and page', files);
await runChecks('npm run test:product', [{ ...tests, environment: { ...tests.environment, PACKED_ROWGRAPH: tarball } }]);
