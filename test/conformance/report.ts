/**
 * The words of the conformance runner: a line for each case, a total, and all that one needs to see of a step that fails.
 */
import type { StepResult } from './run-case.ts';
import type { CaseOutcome, Outcome } from './run-cases.ts';

/** "ok   read-01-collection-basics.yaml   65 passed   0.4 s". */
export function describeCase({ file, missing, passed, failed, disputed, milliseconds }: CaseOutcome): string {
  if (missing !== null) return `skip ${file}: ${missing}`;
  const counts = [
    `${passed} passed`,
    ...(failed.length > 0 ? [`${failed.length} FAILED`] : []),
    ...(disputed.length > 0 ? [`${disputed.length} disputed`] : []),
  ];
  return `${failed.length > 0 ? 'FAIL' : 'ok  '} ${file.padEnd(38)} ${counts.join(', ').padEnd(26)} ${(milliseconds / 1000).toFixed(1)} s`;
}

/** "N passed, M failed, K disputed, skipped files: …", then how many members the schemas have beyond the vectors', and disputes that are no longer true. */
export function describeTotal({ cases, staleDisputes }: Outcome): string {
  const sum = (count: (outcome: CaseOutcome) => number): number => cases.reduce((total, outcome) => total + count(outcome), 0);
  const skipped = cases.filter(({ missing }) => missing !== null).map(({ file }) => file);
  const additions = new Set(cases.flatMap(({ steps }) => steps.flatMap((step) => step.additions)));
  return [
    `${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed.length)} failed, ${sum(({ disputed }) => disputed.length)} disputed, ` +
      `skipped files: ${skipped.join(', ') || 'none'}`,
    ...(additions.size > 0 ? [`${additions.size} members of schemas beyond those of the vectors, as additions.ts lists them`] : []),
    ...staleDisputes,
  ].join('\n');
}

/** The step, its request, and each thing that is wrong; with `verbose` the whole answer as well, as a diff from what was expected. */
export function describeFailure(file: string, { step, problems, answer }: StepResult, verbose: boolean): string {
  const shown = verbose ? problems : problems.slice(0, 8);
  const caller = [
    step.role !== undefined && `role ${step.role}`,
    step.claims && `claims ${JSON.stringify(step.claims)}`,
    step.schemas && `schemas ${step.schemas.join(', ')}`,
  ];
  return [
    `✖ ${file} — "${step.about}"`,
    indent(step.query.trim()),
    ...(step.variables ? [`  variables ${JSON.stringify(step.variables)}`] : []),
    ...(step.operationName === undefined ? [] : [`  operation ${step.operationName}`]),
    ...caller.filter(Boolean).map((text) => `  ${text}`),
    ...shown.map((problem) => `  → ${problem.replaceAll('\n', '\n    ')}`),
    ...(shown.length < problems.length ? [`  → … ${problems.length - shown.length} more`] : []),
    ...(verbose ? [indent(describeAnswers(step.expect.data, answer))] : []),
    '',
  ].join('\n');
}

/** How often each problem occurs, the most frequent first; values in quotes and numbers are left away so that likes meet. */
export function describeFrequentProblems({ cases }: Outcome, limit: number): string {
  const problems = cases.flatMap(({ failed }) => failed.map(({ problems: [first = ''] }) => first.split('\n')[0] ?? ''));
  const groups = Map.groupBy(problems, (problem) =>
    problem
      .replace(/"[^"]*"/g, '"…"')
      .replace(/\d+/g, '0')
      .slice(0, 160),
  );
  const sorted = [...groups].sort(([, left], [, right]) => right.length - left.length);
  return sorted
    .slice(0, limit)
    .map(([, examples]) => `${String(examples.length).padStart(5)} × ${examples[0]?.slice(0, 180)}`)
    .join('\n');
}

function describeAnswers(expected: unknown, answer: StepResult['answer']): string {
  if (answer === null) return '(no answer)';
  if (expected === undefined || answer.data === undefined || answer.data === null) return `answer ${JSON.stringify(answer, null, 2)}`;
  return ['- expected', '+ got', ...diffLines(toLines(expected), toLines(answer.data))].join('\n');
}

/** Indented JSON with sorted keys, as the vectors have them. */
function toLines(value: unknown): string[] {
  const sorted = JSON.stringify(
    value,
    (_, inner: unknown) => (isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner),
    2,
  );
  return sorted.split('\n');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A line diff by the longest common subsequence; equal stretches are cut to two lines of context. */
function diffLines(before: readonly string[], after: readonly string[]): string[] {
  const edits = longestCommonEdits(before, after);
  const isNear = edits.map((_, index) => edits.slice(Math.max(0, index - 2), index + 3).some((edit) => !edit.startsWith(' ')));
  return edits.flatMap((edit, index) => (isNear[index] ? [edit] : isNear[index - 1] ? ['  …'] : []));
}

function longestCommonEdits(before: readonly string[], after: readonly string[]): string[] {
  if (before.length * after.length > 4_000_000) {
    return [...before.map((line) => `- ${line}`), ...after.map((line) => `+ ${line}`)];
  }
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const edits: string[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      edits.push(`  ${before[i++]}`);
      j++;
    } else if (i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1))) edits.push(`- ${before[i++]}`);
    else edits.push(`+ ${after[j++]}`);
  }
  return edits;
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
