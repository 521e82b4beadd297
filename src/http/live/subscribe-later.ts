/** Subscriptions to a graph that is not open yet. */
import type { Caller, GraphQLRequest, RawResponse, SubscribeOptions } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { ExecutingGraph } from '../endpoint/endpoint-options.ts';

/** The answers of a graph once it is open. If it cannot be opened, the first `next` rejects. */
export function subscribeLater(
  opening: Promise<ExecutingGraph>,
  request: GraphQLRequest,
  caller: Caller,
  options: SubscribeOptions | undefined,
): AsyncIterableIterator<RawResponse> {
  const subscribing = opening.then((graph) => {
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
}
