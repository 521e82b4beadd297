/**
 * Judges one answer by what its step expects. Out: what is wrong with it, a line each.
 */
import { isDeepStrictEqual } from 'node:util';
import { findKeyDisorder } from './check-key-order.ts';
import { compareData, type Difference } from './compare-data.ts';
import type { Answer } from './endpoint.ts';
import type { QueryStep } from './read-cases.ts';
import { sameMessage } from './wordings.ts';

export interface Verdict {
  readonly problems: readonly string[];
  /** Names of members that the schema has beyond pg_graphql's. */
  readonly additions: readonly string[];
}

interface CheckOptions {
  readonly source: { readonly version: number };
  readonly isKnownAddition: (name: string) => boolean;
  readonly hasAdditions?: boolean;
}

/** Compares a response with the step's expectation. */
export function checkAnswer(step: QueryStep, answer: Answer, options: CheckOptions): Verdict {
  const { expect } = step;
  if (expect.data !== undefined) return checkData(step, answer, options);
  const problems = [...checkRefusal(expect.error, answer, options.source.version), ...checkExtensions(expect.extensions, answer)];
  return { problems, additions: [] };
}

function checkData(step: QueryStep, answer: Answer, options: CheckOptions): Verdict {
  if (answer.errors !== undefined) {
    return { problems: [`error "${answer.errors[0]?.message}" instead of data`], additions: [] };
  }
  const mayHaveMore = options.hasAdditions && /\b__(schema|type)\b/.test(step.query);
  const isKnownAddition = mayHaveMore ? () => true : step.match === 'superset' ? options.isKnownAddition : undefined;
  const { differences: found, additions } = compareData(step.expect.data, answer.data, isKnownAddition);
  const differences = mayHaveMore ? found.filter(({ path }) => !path.endsWith('.specifiedByURL')) : found;
  if (differences.length > 0) return { problems: differences.map(describeDifference), additions };
  const disorder = findKeyDisorder(step, answer.data);
  return { problems: disorder === null ? [] : [`keys are not in the order of the request: ${disorder}`], additions };
}

function checkRefusal(message: string | undefined, answer: Answer, serverVersion: number): string[] {
  const wanted = message === undefined ? 'a refusal' : `the error "${message}"`;
  const first = answer.errors?.[0];
  if (first === undefined) return [`data instead of ${wanted}`];
  const problems = [];
  if (first.extensions?.code === 'INTERNAL_ERROR') problems.push(`an internal error instead of ${wanted}`);
  if (answer.data !== undefined && answer.data !== null) problems.push(`data beside ${wanted}`);
  if (message !== undefined && !sameMessage(message, first.message, serverVersion)) {
    problems.push(`error "${first.message}" instead of "${message}"`);
  }
  return problems;
}

function checkExtensions(expected: Readonly<Record<string, unknown>> = {}, { errors }: Answer): string[] {
  const got = errors?.[0]?.extensions ?? {};
  return Object.entries(expected).flatMap(([name, value]) =>
    isDeepStrictEqual(got[name] ?? null, value) ? [] : [`extensions.${name}: expected ${shorten(value)}, got ${shorten(got[name])}`],
  );
}

function describeDifference({ path, expected, got }: Difference): string {
  if (got === undefined) return `${path}: missing, expected ${shorten(expected)}`;
  if (expected === undefined) return `${path}: not expected, got ${shorten(got)}`;
  return `${path}: expected ${shorten(expected)}, got ${shorten(got)}`;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
