/**
 * The vectors as tests of node's runner: a test for each case, whose message is all that fails in it, and the total.
 */
import { test } from 'node:test';
import { readCases } from './read-cases.ts';
import { describeCase, describeFailure, describeTotal } from './report.ts';
import { type RunCasesOptions, runCases } from './run-cases.ts';

/** Declares the test `name` over all cases. Cases run before their tests, because they share a server and overlap. */
export function testCases(name: string, options: RunCasesOptions): void {
  test(name, async (t) => {
    const outcome = await runCases(readCases(), options);
    for (const result of outcome.cases.toSorted((left, right) => (left.file < right.file ? -1 : 1))) {
      await t.test(describeCase(result), { skip: result.missingExtension !== null }, () => {
        const failures = result.failed.map((step) => describeFailure(result.file, step, false));
        if (failures.length > 0) throw new Error(failures.join('\n'));
      });
    }
    console.log(`${name}: ${describeTotal(outcome)}`);
    if (outcome.staleDisputes.length > 0) throw new Error(outcome.staleDisputes.join('\n'));
  });
}
