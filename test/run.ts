/**
 * What `npm test` runs: types, then lint and format, then all tests. All of them run even if one fails; the exit code reports it. Test
 * files may be named: `npm test -- src/plan/plan-filter.test.ts`.
 */
import path from 'node:path';
import { bundleCommand } from './process/bundle-command.ts';
import { allTests, root, runChecks, testsOf } from './run-checks.ts';

const files = process.argv.slice(2);
const tests = testsOf('tests', files.length > 0 ? files : allTests);

await runChecks('npm test', [
  { name: 'types', command: bin('tsc'), flags: ['--noEmit'] },
  { name: 'types of the page', command: bin('tsc'), flags: ['--project', 'graphiql/page'] },
  { name: 'lint and format', command: bin('biome'), flags: ['check', '--error-on-warnings', '.'] },
  { ...tests, environment: { ...tests.environment, ROWGRAPH_TEST_COMMAND: await bundleCommand() } },
]);

function bin(name: string): string {
  return path.join(root, 'node_modules/.bin', name);
}
