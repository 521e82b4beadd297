/**
 * The vectors as tests of node's runner: a test for each case, whose message shows what fails in it, and the total.
 */
import { test } from 'node:test';
import { type ConformanceCase, readVectors } from './read-cases.ts';
import { describeCase, describeFailure, describeTotal } from './report.ts';
import { type RunCasesOptions, runCases } from './run-cases.ts';

/** Failing steps of a case that are shown in full. */
const maxShown = 3;

/** Declares the test `name` over all vectors of pg_graphql, or those that are given. Cases run before their tests, because they share a server and overlap. */
export function testCases(
  name: string,
  { cases = readVectors(), ...options }: RunCasesOptions & { readonly cases?: readonly ConformanceCase[] },
): void {
  test(name, async (t) => {
    const outcome = await runCases(cases, options);
    for (const result of outcome.cases.toSorted((left, right) => (left.file < right.file ? -1 : 1))) {
      await t.test(describeCase(result), { skip: result.missing ?? false }, () => {
        if (result.failed.length === 0) return;
        const failures = result.failed.slice(0, maxShown).map((step) => describeFailure(result.file, step, false));
        const rest = `All ${result.failed.length} of them: npm run conformance -- --database ${options.kind} --file ${result.file}`;
        throw new Error([...failures, rest].join('\n'));
      });
    }
    console.log(`${name}: ${describeTotal(outcome)}`);
    if (outcome.staleDisputes.length > 0) throw new Error(outcome.staleDisputes.join('\n'));
  });
}
