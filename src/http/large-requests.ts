/**
 * Makes requests with large bodies take turns: preparing one for the database takes up to a hundred times its size in memory, so only a few
 * are prepared at a time, while the others wait as raw bytes. In: requests as they begin and end; out: when each may begin.
 */
import { type Deadline, explainStop } from '../budget/deadline.ts';

/** In bytes: a body of at least this size must wait for its turn. Smaller ones are prepared without a pause. */
export const largeBody = 4 * 1024;

/** How many bytes of bodies are prepared at a time, in total and per client. */
export interface LargeRequestBounds {
  readonly bytes: number;
  readonly ofClient: number;
}

interface LargeRequest {
  readonly client: string;
  /** How many bytes it counts for. */
  readonly bytes: number;
}

interface Waiting extends LargeRequest {
  begin(): void;
}

export class LargeRequests {
  readonly #bounds: LargeRequestBounds;
  #bytes = 0;
  /** Clients without bytes have no entry. */
  readonly #byClient = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();

  constructor(bounds: LargeRequestBounds = { bytes: 512 * 1024, ofClient: 384 * 1024 }) {
    this.#bounds = bounds;
  }

  /**
   * Does the work when its turn comes. The turn ends when the work calls `endTurn`, or is done. Rejects with TIMEOUT or CANCELLED if the
   * deadline comes first.
   */
  async run<Result>(client: string, size: number, deadline: Deadline, work: (endTurn: () => void) => Promise<Result>): Promise<Result> {
    const request = { client, bytes: Math.min(size, this.#bounds.ofClient) };
    if (this.#waiting.size > 0 || !this.#mayBegin(request)) await this.#wait(request, deadline);
    else this.#enter(request);
    let isOver = false;
    const endTurn = (): void => {
      if (isOver) return;
      isOver = true;
      this.#leave(request);
    };
    try {
      return await work(endTurn);
    } finally {
      endTurn();
    }
  }

  /** Resolves when it is the request's turn. */
  #wait(request: LargeRequest, deadline: Deadline): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        ...request,
        begin: (): void => {
          this.#waiting.delete(waiting);
          this.#enter(request);
          deadline.onStop(null);
          resolve();
        },
      };
      this.#waiting.add(waiting);
      deadline.onStop((reason) => {
        this.#waiting.delete(waiting);
        reject(explainStop(reason));
        // The others may have been waiting for this request.
        this.#beginNext();
      });
      // All waiting requests may belong to clients that use their full share; then this one can begin.
      this.#beginNext();
    });
  }

  #mayBegin({ client, bytes }: LargeRequest): boolean {
    return this.#bytes + bytes <= this.#bounds.bytes && this.#clientMayBegin(client, bytes);
  }

  #clientMayBegin(client: string, bytes: number): boolean {
    return (this.#byClient.get(client) ?? 0) + bytes <= this.#bounds.ofClient;
  }

  #enter({ client, bytes }: LargeRequest): void {
    this.#bytes += bytes;
    this.#byClient.set(client, (this.#byClient.get(client) ?? 0) + bytes);
  }

  #leave({ client, bytes }: LargeRequest): void {
    this.#bytes -= bytes;
    const left = this.#byClient.get(client)! - bytes;
    if (left === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, left);
    this.#beginNext();
  }

  /**
   * Starts the requests that have waited longest, skipping clients that use their full share. If the next one does not fit yet, smaller
   * ones wait too, so that it is not overtaken for ever.
   */
  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (!this.#clientMayBegin(waiting.client, waiting.bytes)) continue;
      if (!this.#mayBegin(waiting)) return;
      waiting.begin();
    }
  }
}
