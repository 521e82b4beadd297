/**
 * The conformance runner for people: `node test/conformance/run.ts [--database postgres|pglite] [--file text] [--step text] [--limit n]
 * [--quiet] [--verbose]`. Prints each step that fails, a line a file, and a total; fails if any step does.
 */
import { parseArgs } from 'node:util';
import type { DatabaseKind } from './case-database.ts';
import { openLibrary, openReference } from './endpoint.ts';
import { readVectors } from './read-cases.ts';
import { describeCase, describeFailure, describeFrequentProblems, describeTotal } from './report.ts';
import { runCases } from './run-cases.ts';

const usage = `node test/conformance/run.ts [options]
  --database postgres|pglite   where to run (default: postgres)
  --dialect rowgraph|pg_graphql with all additions, or with none (default: pg_graphql)
  --file text                  only files whose name contains this text
  --step text                  only queries whose "about" contains this text (mutations run in any case, unseen)
  --limit n                    show at most n failing steps (default: 20)
  --quiet                      show no failing steps, only the lines of the files and what fails most
  --verbose                    show all that is wrong with a step, and the whole answer as a diff`;

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'postgres' },
    dialect: { type: 'string', default: 'pg_graphql' },
    file: { type: 'string', default: '' },
    step: { type: 'string', default: '' },
    limit: { type: 'string', default: '20' },
    quiet: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help || !['postgres', 'pglite'].includes(values.database)) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

const hasAdditions = values.dialect === 'rowgraph';
const start = performance.now();
const isChosen = ({ about }: { about: string }): boolean => about.includes(values.step);
let room = values.quiet ? 0 : Number(values.limit);

const outcome = await runCases(readVectors(values.file), {
  kind: values.database as DatabaseKind,
  openEndpoint: hasAdditions ? openLibrary : openReference,
  hasAdditions,
  isChosen,
  onCase: (result) => {
    for (const step of result.failed)
      if (isChosen(step.step) && room-- > 0) console.log(describeFailure(result.file, step, values.verbose));
    console.log(describeCase(result));
  },
});

const failed = outcome.cases.flatMap((result) => result.failed);
if (failed.length > 1) console.log(`\nWhat fails most:\n${describeFrequentProblems(outcome, 15)}`);
console.log(`\n${describeTotal(outcome)} (${values.database}, ${((performance.now() - start) / 1000).toFixed(1)} s)`);
process.exitCode = failed.length + outcome.staleDisputes.length > 0 ? 1 : 0;
