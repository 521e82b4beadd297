/**
 * Lets requests with large bodies take turns: preparing one for the database takes up to a hundred times its size in memory, so only a few are prepared at
 * a time, while the others wait as raw bytes. In: requests as they begin and end; out: when each may begin.
 */
import { type Deadline, explainStop } from '../budget/deadline.ts';

/** In bytes: a body of at least this size must wait for its turn. Smaller ones are prepared without a pause. */
export const largeBody = 4 * 1024;

/** How many bytes of bodies are prepared at a time, in all and of one client. */
export interface LargeRequestBounds {
  readonly bytes: number;
  readonly ofClient: number;
}

interface LargeRequest {
  readonly client: string;
  /** For how much it counts. */
  readonly bytes: number;
}

interface Waiting extends LargeRequest {
  begin(): void;
}

export class LargeRequests {
  readonly #bounds: LargeRequestBounds;
  #bytes = 0;
  /** None is zero. */
  readonly #byClient = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();

  constructor(bounds: LargeRequestBounds = { bytes: 512 * 1024, ofClient: 384 * 1024 }) {
    this.#bounds = bounds;
  }

  /**
   * Does the work when its turn comes. The turn ends when the work calls back, or is done. Rejects with TIMEOUT or CANCELLED if the deadline comes first.
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

  /** Resolves when the request has its turn. */
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
        // It may have been what the others wait behind.
        this.#beginNext();
      });
      // Those that wait may all be of clients that have their share.
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

  /** The turn goes to whoever has waited longest, of the clients that may have another; no smaller request passes one that is too large for the moment. */
  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (!this.#clientMayBegin(waiting.client, waiting.bytes)) continue;
      if (!this.#mayBegin(waiting)) return;
      waiting.begin();
    }
  }
}
