/**
 * What `npm test` runs: types, then lint and format, then all tests but the slow ones, which `npm run test:system` runs (`--system`). All of
 * them run even if one fails; the exit code reports it. Test files may be named: `npm test -- src/plan/plan-filter.test.ts`.
 */
import { globSync } from 'node:fs';
import path from 'node:path';
import { bundleCommand } from './process/bundle-command.ts';
import { allTests, type Check, root, runChecks, systemTests, testsOf } from './run-checks.ts';

const [first, ...rest] = process.argv.slice(2);
if (first === '--system')
  await runChecks('npm run test:system', [await withCommand(testsOf('system tests', rest.length > 0 ? rest : systemTests))]);
else {
  const files = first === undefined ? globSync(allTests, { cwd: root, exclude: ['**/node_modules/**', ...systemTests] }) : [first, ...rest];
  await runChecks('npm test', [
    { name: 'types', command: bin('tsc'), flags: ['--noEmit'] },
    { name: 'types of the page', command: bin('tsc'), flags: ['--project', 'graphiql/page'] },
    { name: 'lint and format', command: bin('biome'), flags: ['check', '--error-on-warnings', '.'] },
    await withCommand(testsOf('tests', files)),
  ]);
}

/** Tests of processes start the command from one bundle. */
async function withCommand(tests: Check): Promise<Check> {
  return { ...tests, environment: { ...tests.environment, ROWGRAPH_TEST_COMMAND: await bundleCommand() } };
}

function bin(name: string): string {
  return path.join(root, 'node_modules/.bin', name);
}
