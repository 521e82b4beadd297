/**
 * `npm run test:coverage`: which part of src/ the tests of `npm test` run, including the processes that they start. Prints the percentage
 * of lines, branches and functions, and each file and function that no test enters. Test files may be named, as for `npm test`.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { allTests, root } from './run-checks.ts';

const sources = { include: 'src/**/*.ts', exclude: 'src/**/*.test.ts' };

interface Counts {
  found: number;
  hit: number;
}

interface Coverage {
  readonly lines: Counts;
  readonly branches: Counts;
  readonly functions: Counts;
  readonly files: ReadonlySet<string>;
  /** As `file:line name`. */
  readonly notEntered: readonly string[];
}

const folder = mkdtempSync(path.join(tmpdir(), 'rowgraph-coverage-'));
const report = path.join(folder, 'lcov.info');
const named = process.argv.slice(2);
const flags = [
  '--test',
  `--test-concurrency=${availableParallelism()}`,
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  '--experimental-test-coverage',
  `--test-coverage-include=${sources.include}`,
  `--test-coverage-exclude=${sources.exclude}`,
  '--test-reporter=lcov',
  `--test-reporter-destination=${report}`,
];
const { status } = spawnSync(process.execPath, [...flags, ...(named.length > 0 ? named : allTests)], { cwd: root, stdio: 'inherit' });
const coverage = readReport(readFileSync(report, 'utf8'));
rmSync(folder, { recursive: true });

const missing = globSync(sources.include, { cwd: root, exclude: [sources.exclude] }).filter((file) => !coverage.files.has(file));
console.log(`\nFiles that no test loads, or that hold only types: ${missing.sort().join(', ') || 'none'}`);
console.log(`Functions that no test enters (${coverage.notEntered.length}):${coverage.notEntered.map((line) => `\n  ${line}`).join('')}`);
console.log(`\nCoverage of src/: ${(['lines', 'branches', 'functions'] as const).map(describeShare).join(', ')}`);
process.exitCode = status ?? 1;

function describeShare(name: 'lines' | 'branches' | 'functions'): string {
  const { found, hit } = coverage[name];
  return `${((100 * hit) / found).toFixed(1)} % of ${found} ${name}`;
}

/** Reads the format of lcov (https://github.com/linux-test-project/lcov/blob/master/man/geninfo.1). */
function readReport(text: string): Coverage {
  const counts: Record<string, number> = { LF: 0, LH: 0, BRF: 0, BRH: 0, FNF: 0, FNH: 0 };
  const files = new Set<string>();
  const notEntered: string[] = [];
  let file = '';
  // Functions are listed twice in the same order: with their lines, and with their call counts.
  let starts: string[] = [];
  for (const line of text.split('\n')) {
    const [, key = '', value = ''] = /^(\w+):(.*)$/.exec(line) ?? [];
    const [first = '', name = ''] = value.split(/,(.*)/);
    if (key === 'SF') {
      file = path.relative(root, path.resolve(root, value));
      files.add(file);
      starts = [];
    } else if (key === 'FN') starts.push(first);
    else if (key === 'FNDA') {
      const start = starts.shift();
      // V8 reports the initializer of a class, which has no code of its own, as never called if it is part of the constructor.
      if (first === '0' && name !== '<instance_members_initializer>') notEntered.push(`${file}:${start} ${name}`);
    } else if (key in counts) counts[key]! += Number(value);
  }
  const pair = (found: string, hit: string): Counts => ({ found: counts[found]!, hit: counts[hit]! });
  return { lines: pair('LF', 'LH'), branches: pair('BRF', 'BRH'), functions: pair('FNF', 'FNH'), files, notEntered };
}
