/**
 * Queries as subscriptions: the first answer is that of the query, and after a mutation the last one is that of the query then. Others may come between them
 * (docs/live.md).
 */
import { type GraphQLSchema, parse, validate } from 'graphql';
import type { ExecutionResult } from '../../src/index.ts';
import { type CaseContext, claims } from './case-context.ts';
import { PropertyFailure } from './property-failure.ts';
import type { RandomOperation } from './random-selection.ts';

/** A query that keeps answering. */
export class Subscription {
  readonly operation: RandomOperation;
  readonly #answers: AsyncIterableIterator<ExecutionResult>;
  #last: ExecutionResult | null = null;

  constructor({ graph }: CaseContext, role: string, { query, variables }: RandomOperation) {
    this.operation = { query: asSubscription(query), variables };
    // An answer comes within a second, and on a busy machine within more.
    const signal = AbortSignal.timeout(60_000);
    this.#answers = graph.subscribe(this.operation, { role, claims }, { signal });
  }

  /** Waits for an answer: the first, or, once that has been read, the last or one after it that is as expected. */
  async expect(isExpected: (answer: ExecutionResult) => boolean, expected: unknown): Promise<void> {
    const isFirst = this.#last === null;
    while (this.#last === null || !isExpected(this.#last)) {
      const { value, done } = await this.#answers.next();
      if (!done) this.#last = value;
      if (!done && (!isFirst || isExpected(value))) continue;
      const what = isFirst
        ? 'The first answer of a subscription is not that of the query.'
        : 'A subscription does not answer after a change.';
      throw new PropertyFailure(what, { ...this.operation, expected, got: this.#last });
    }
  }

  async close(): Promise<void> {
    await this.#answers.return?.();
  }
}

/** Whether the query is valid as one: not with directives at its root fields, and only where the role may subscribe to them. */
export function canSubscribe(schema: GraphQLSchema, { query }: RandomOperation): boolean {
  return validate(schema, parse(asSubscription(query))).length === 0;
}

/** Each definition is on a line of its own. */
function asSubscription(query: string): string {
  const lines = query.split('\n').map((line) => (line.startsWith('{') ? `subscription ${line}` : line.replace(/^query\b/, 'subscription')));
  return lines.join('\n');
}
