/** A graph that may not be open yet when a request comes. */
import type { Deadline } from '../../budget/deadline.ts';
import type { Caller, GraphQLRequest, RawResponse, SubscribeOptions } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { ExecutingGraph } from './endpoint-options.ts';

/** Its methods are fields, so that a server can take them over into another graph. */
export abstract class LateGraph implements ExecutingGraph {
  /** The graph if it is open, or else a promise of it, which rejects with what the request fails with, also when the deadline stops it. */
  protected abstract whenOpen(deadline: Deadline | null): ExecutingGraph | Promise<ExecutingGraph>;

  executeRaw: ExecutingGraph['executeRaw'] = (request, caller, options) => {
    const graph = this.whenOpen(options?.deadline ?? null);
    if (graph instanceof Promise) return graph.then((opened) => opened.executeRaw(request, caller, options));
    return graph.executeRaw(request, caller, options);
  };

  /** If the graph cannot be opened, the first `next` rejects. */
  subscribeRaw = (request: GraphQLRequest, caller: Caller, options?: SubscribeOptions): AsyncIterableIterator<RawResponse> => {
    const subscribing = Promise.resolve(this.whenOpen(options?.deadline ?? null)).then((graph) => {
      if (graph.subscribeRaw === undefined) throw new ApiError('SUBSCRIPTION_NOT_SUPPORTED', 'This server has no live queries.');
      return graph.subscribeRaw(request, caller, options);
    });
    return {
      next: () => subscribing.then((answers) => answers.next()),
      return: () => subscribing.then((answers) => answers.return?.() ?? { value: undefined, done: true }),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  };

  loadRole = async (role: string, deadline: Deadline): Promise<void> => {
    const graph = await this.whenOpen(deadline);
    await graph.loadRole?.(role, deadline);
  };

  validate = async (query: string, options: { role: string }): Promise<readonly unknown[]> => {
    const graph = await this.whenOpen(null);
    return graph.validate?.(query, options) ?? [];
  };

  explain = async (request: GraphQLRequest, caller: Caller): Promise<unknown> => {
    const graph = await this.whenOpen(null);
    return graph.explain?.(request, caller);
  };
}
