/**
 * Runs many cases, a few at a time, prints one line for each as it ends, and holds the outcome against the list of disputed steps.
 */
import { readKnownAdditions } from './additions.ts';
import { type DatabaseKind, startDatabaseSource } from './case-database.ts';
import { type DisputedStep, readDisputedSteps } from './disputed.ts';
import type { OpenEndpoint } from './endpoint.ts';
import type { ConformanceCase, QueryStep } from './read-cases.ts';
import { type CaseResult, runCase, type StepResult } from './run-case.ts';

export interface RunCasesOptions {
  readonly kind: DatabaseKind;
  readonly openEndpoint: OpenEndpoint;
  /** Whether the endpoint has additions to pg_graphql's schema, so that all introspection may show more than is expected. */
  readonly hasAdditions?: boolean;
  readonly isChosen?: (step: QueryStep, index: number) => boolean;
  /** Takes the outcome of each case as soon as it is there. */
  readonly onCase?: (outcome: CaseOutcome) => void;
}

export interface CaseOutcome extends CaseResult {
  readonly passed: number;
  readonly failed: readonly StepResult[];
  readonly disputed: readonly StepResult[];
}

export interface Outcome {
  readonly cases: readonly CaseOutcome[];
  /** What is wrong with the list of disputed steps. */
  readonly staleDisputes: readonly string[];
}

/** Runs the cases on a kind of database, two at a time on a server (PGlite blocks the process while it works). */
export async function runCases(cases: readonly ConformanceCase[], options: RunCasesOptions): Promise<Outcome> {
  const source = await startDatabaseSource(options.kind);
  const disputes = readDisputedSteps(options.kind, options.hasAdditions ?? false);
  const isKnownAddition = readKnownAdditions();
  const outcomes: CaseOutcome[] = [];
  const queue = cases.values();
  const work = async (): Promise<void> => {
    for (const conformanceCase of queue) {
      const outcome = judge(await runCase(conformanceCase, { ...options, source, isKnownAddition }), disputes);
      outcomes.push(outcome);
      options.onCase?.(outcome);
    }
  };
  try {
    await Promise.all(options.kind === 'postgres' ? [work(), work(), work()] : [work()]);
  } finally {
    await source.stop();
  }
  return { cases: outcomes, staleDisputes: findStaleDisputes(disputes, cases, outcomes) };
}

function judge(result: CaseResult, disputes: readonly DisputedStep[]): CaseOutcome {
  const isDisputed = ({ step }: StepResult): boolean => disputes.some(({ file, about }) => file === result.file && about === step.about);
  const wrong = result.steps.filter(({ problems }) => problems.length > 0);
  return {
    ...result,
    passed: result.steps.length - wrong.length,
    failed: wrong.filter((step) => !isDisputed(step)),
    disputed: wrong.filter(isDisputed),
  };
}

function findStaleDisputes(
  disputes: readonly DisputedStep[],
  cases: readonly ConformanceCase[],
  outcomes: readonly CaseOutcome[],
): string[] {
  return disputes.flatMap(({ file, about }) => {
    const conformanceCase = cases.find((candidate) => candidate.file === file);
    if (conformanceCase === undefined) return [];
    if (!conformanceCase.steps.some((step) => 'query' in step && step.about === about))
      return [`${file} — "${about}" is disputed and does not exist`];
    const result = outcomes.find((outcome) => outcome.file === file)?.steps.find(({ step }) => step.about === about);
    return result?.problems.length === 0 ? [`${file} — "${about}" is disputed and passes`] : [];
  });
}
