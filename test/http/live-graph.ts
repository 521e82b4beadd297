/** A graph of subscriptions for tests of the transports alone. */
import type { Caller, GraphQLRequest, RawResponse, SubscribeOptions } from '../../src/engine/request.ts';
import { ApiError } from '../../src/errors/api-error.ts';
import { type Execute, rawResponse } from './start-test-server.ts';

/**
 * A graph whose subscriptions answer when a test says so. The first answer says who asks. A request that contains `refuse` is refused, one
 * that contains `wait` has no first answer until `publish`; queries and mutations are answered once, by `execute`.
 */
export class LiveGraph {
  /** Those that run. */
  readonly open = new Set<Subscription>();
  readonly #execute: Execute;
  readonly #waiting = new Set<() => void>();

  constructor(execute: Execute = async () => rawResponse('{"data":{"kind":"single"}}')) {
    this.#execute = execute;
  }

  readonly subscribeRaw = (request: GraphQLRequest, caller: Caller, options: SubscribeOptions = {}): Subscription => {
    const subscription = new Subscription(request, caller, options, (isOpen) => {
      if (isOpen) this.open.add(subscription);
      else this.open.delete(subscription);
      for (const check of this.#waiting) check();
    });
    subscription.execute = () => this.#execute(request, caller, options);
    return subscription;
  };

  /** Gives all an answer; a later one replaces one that was not taken. */
  publish(data: unknown): RawResponse {
    const response = live(data);
    for (const subscription of this.open) subscription.give(response);
    return response;
  }

  /** Ends all with an error. */
  fail(error: Error): void {
    for (const subscription of [...this.open]) subscription.end(error);
  }

  /** Resolves when so many run. */
  until(count: number): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.open.size !== count) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }
}

type Result = IteratorResult<RawResponse>;

class Subscription implements AsyncIterableIterator<RawResponse> {
  readonly request: GraphQLRequest;
  readonly caller: Caller;
  readonly options: SubscribeOptions;
  readonly #onChange: (isOpen: boolean) => void;
  execute: () => Promise<RawResponse> = () => Promise.reject(new Error('unset'));
  #latest: RawResponse | null = null;
  #error: Error | null = null;
  #isOver = false;
  #isFirst = true;
  #pending: PromiseWithResolvers<Result> | null = null;

  constructor(request: GraphQLRequest, caller: Caller, options: SubscribeOptions, onChange: (isOpen: boolean) => void) {
    this.request = request;
    this.caller = caller;
    this.options = options;
    this.#onChange = onChange;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (!this.#isFirst) return this.#goOn();
    this.#isFirst = false;
    return this.#begin();
  }

  async return(): Promise<Result> {
    this.end(null);
    return { value: undefined, done: true };
  }

  give(response: RawResponse): void {
    this.#latest = response;
    this.#settle();
  }

  end(error: Error | null): void {
    this.#isOver = true;
    this.#error = error;
    this.#settle();
    this.#onChange(false);
  }

  async #begin(): Promise<Result> {
    const { query } = this.request;
    if (!query.startsWith('subscription')) {
      this.#isOver = true;
      return { value: await this.execute(), done: false };
    }
    if (query.includes('refuse')) throw Object.assign(new Error('two'), { errors: [refusal('one'), refusal('two')] });
    this.#onChange(true);
    this.options.deadline?.onStop(() => this.end(new ApiError('CANCELLED', 'stopped')));
    const { role, claims } = this.caller;
    if (!query.includes('wait')) this.#latest = live({ role, claims });
    return this.#goOn();
  }

  #goOn(): Promise<Result> {
    this.#pending = Promise.withResolvers();
    const { promise } = this.#pending;
    this.#settle();
    return promise;
  }

  #settle(): void {
    if (this.#pending === null) return;
    const { resolve, reject } = this.#pending;
    if (this.#latest !== null) resolve({ value: this.#latest, done: false });
    else if (this.#error !== null) reject(this.#error);
    else if (this.#isOver) resolve({ value: undefined, done: true });
    else return;
    this.#pending = null;
    this.#latest = null;
    this.#error = null;
  }
}

function live(data: unknown): RawResponse {
  return { ...rawResponse(JSON.stringify({ data })), isLive: true };
}

function refusal(message: string): ApiError {
  return new ApiError('GRAPHQL_VALIDATION_FAILED', message);
}
