/** Live queries: who subscribes to what, and when answers are computed again. */
import type { Caller, GraphQLRequest, RawResponse, SubscribeOptions } from '../engine/request.ts';
import { ApiError } from '../errors/api-error.ts';
import { Subscription } from './subscription.ts';

/** What live queries need of the graph. */
export interface Engine {
  /** What kind of operation a request is. Rejects if it is refused. */
  kindOf(request: GraphQLRequest, caller: Caller, options: SubscribeOptions): Promise<'query' | 'mutation' | 'subscription'>;
  /** Answers once. Rejects with what the request fails with. */
  answer(request: GraphQLRequest, caller: Caller, options: SubscribeOptions): Promise<RawResponse>;
  /** Calls back for each change of data, until the function that it returns is called. */
  watch(onChange: () => void): () => void;
}

export class LiveQueries {
  readonly #engine: Engine;
  readonly #running = new Set<Subscription>();
  #isClosed = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  subscribe(request: GraphQLRequest, caller: Caller, options: SubscribeOptions): Subscription {
    const { signal } = options;
    return new Subscription((subscription) => {
      const stop = (): void => void subscription.return();
      signal?.addEventListener('abort', stop);
      subscription.onEnd = () => signal?.removeEventListener('abort', stop);
      if (signal?.aborted) return stop();
      this.#begin(subscription, request, caller, options).catch((error: unknown) => subscription.fail(error));
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const subscription of this.#running) subscription.fail(closing());
  }

  async #begin(subscription: Subscription, request: GraphQLRequest, caller: Caller, options: SubscribeOptions): Promise<void> {
    if (this.#isClosed) throw closing();
    this.#running.add(subscription);
    try {
      const kind = await this.#engine.kindOf(request, caller, options);
      if (kind === 'mutation' && options.readOnly === true)
        throw new ApiError('METHOD_NOT_ALLOWED', 'The operation is a mutation, which cannot be subscribed to. Send it as a POST request.');
      let isDirty = true;
      let wake = (): void => {};
      const onChange = (): void => {
        isDirty = true;
        wake();
      };
      const unwatch = kind === 'subscription' ? this.#engine.watch(onChange) : () => {};
      while (!subscription.isEnded) {
        isDirty = false;
        subscription.give(await this.#engine.answer(request, caller, options));
        if (kind !== 'subscription') subscription.complete();
        else if (!isDirty)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
      unwatch();
    } finally {
      this.#running.delete(subscription);
    }
  }
}

function closing(): ApiError {
  return new ApiError('SHUTTING_DOWN', 'The server is shutting down. Subscribe again at another instance.');
}
