/**
 * Lets requests with large bodies take turns: processing one takes up to a hundred times its size in memory, so only a few are processed at a time, while
 * the others wait as raw bytes. In: requests as they begin and end; out: when each may begin.
 */
import type { Deadline, StopReason } from '../budget/deadline.ts';
import { ApiError } from '../errors.ts';

/** In bytes: a body of at least this size must wait for its turn. */
export const largeBody = 64 * 1024;

/** How many are processed at a time, and how many of one client. */
export interface LargeRequestBounds {
  readonly atOnce: number;
  readonly ofClient: number;
}

interface Waiting {
  readonly client: string;
  begin(): void;
}

export class LargeRequests {
  readonly #bounds: LargeRequestBounds;
  #inHand = 0;
  readonly #byClient = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();

  constructor(bounds: LargeRequestBounds = { atOnce: 4, ofClient: 3 }) {
    this.#bounds = bounds;
  }

  /** Does the work when its turn comes. Rejects with TIMEOUT or CANCELLED if the deadline comes first. */
  async run<Result>(client: string, deadline: Deadline, work: () => Promise<Result>): Promise<Result> {
    if (!this.#mayBegin(client)) await this.#wait(client, deadline);
    else this.#enter(client);
    try {
      return await work();
    } finally {
      this.#leave(client);
    }
  }

  /** Resolves when the request has its place. */
  #wait(client: string, deadline: Deadline): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        client,
        begin: (): void => {
          this.#waiting.delete(waiting);
          this.#enter(client);
          deadline.onStop(null);
          resolve();
        },
      };
      this.#waiting.add(waiting);
      deadline.onStop((reason) => {
        this.#waiting.delete(waiting);
        reject(explainStop(reason));
      });
    });
  }

  #mayBegin(client: string): boolean {
    return this.#inHand < this.#bounds.atOnce && (this.#byClient.get(client) ?? 0) < this.#bounds.ofClient;
  }

  #enter(client: string): void {
    this.#inHand += 1;
    this.#byClient.set(client, (this.#byClient.get(client) ?? 0) + 1);
  }

  /** The place goes to the request that has waited longest, among the clients that may have another. */
  #leave(client: string): void {
    this.#inHand -= 1;
    const left = this.#byClient.get(client)! - 1;
    if (left === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, left);
    for (const waiting of this.#waiting) {
      if (!this.#mayBegin(waiting.client)) continue;
      waiting.begin();
      return;
    }
  }
}

function explainStop(reason: StopReason): ApiError {
  return reason === 'abandoned'
    ? new ApiError('CANCELLED', 'The client disconnected while its request was waiting.')
    : new ApiError('TIMEOUT', 'The request exceeded its time limit.');
}
