/** The operation that a request ran, for observers: derived from the prepared request only on demand. */
import type { RanOperation } from '../events.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { costOfPrepared } from './request-cost.ts';

export class RequestOperation implements RanOperation {
  readonly document: string;
  readonly variables: RanOperation['variables'];
  readonly #prepared: PreparedRequest;

  constructor(document: string, variables: RanOperation['variables'], prepared: PreparedRequest) {
    this.document = document;
    this.variables = variables;
    this.#prepared = prepared;
  }

  get name(): string | null {
    return this.#prepared.operation.name ?? null;
  }

  get kind(): 'query' | 'mutation' {
    return this.#prepared.compiled.kind;
  }

  get statements(): readonly string[] {
    return this.#prepared.compiled.statements.map(({ text }) => text);
  }

  readCost(): Readonly<Record<string, number | null>> {
    return costOfPrepared(this.#prepared);
  }
}
