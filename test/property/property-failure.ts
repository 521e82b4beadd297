/** What went wrong in a case, with all that is needed to see it again; and what the evaluator says that has no answer. */
export interface FailureDetails {
  readonly role?: string;
  readonly query?: string;
  readonly variables?: unknown;
  readonly expected?: unknown;
  readonly got?: unknown;
}

/** A property does not hold. */
export class PropertyFailure extends Error {
  readonly details: FailureDetails;

  constructor(what: string, details: FailureDetails, cause?: unknown) {
    super(what, { cause });
    this.details = details;
  }
}

/** The operation has to be refused, in whatever words; mostly because the role lacks a privilege. */
export class RefusalError extends Error {}

/** What the answer is is not for this evaluator to say: a cursor is of no row under the order, or a path of JSON fails on some row. */
export class UnknownAnswerError extends Error {}

/** The report of a failed case. */
export function describeFailure(error: unknown, seed: number, statements: readonly string[]): string {
  const details = error instanceof PropertyFailure ? error.details : {};
  const kind = process.env.ROWGRAPH_PROPERTY_DATABASE;
  const shown = Object.entries(details).flatMap(([name, value]) => [
    `— ${name}`,
    typeof value === 'string' ? value : JSON.stringify(value, null, 1),
  ]);
  return [
    String(error instanceof PropertyFailure ? error.message : (error as Error)?.stack),
    ...(error instanceof PropertyFailure && error.cause ? [String((error.cause as Error).stack)] : []),
    ...shown,
    '— the schema',
    `${statements.join(';\n')};`,
    '— to repeat this case',
    `${kind === undefined ? '' : `ROWGRAPH_PROPERTY_DATABASE=${kind} `}ROWGRAPH_PROPERTY_SEED=${seed} ROWGRAPH_PROPERTY_CASES=1 npm test -- test/property/property.test.ts`,
  ].join('\n');
}
