/**
 * Makes requests take turns at work that needs much memory: only so much of it is under way at a time, in total and per client, while the others
 * wait with what little they have. In: requests with their weight, as they begin and end; out: when each may begin.
 */
import { type Deadline, explainStop } from './deadline.ts';

/** The weight that may be under way at a time, in total and per client. */
export interface WeightBounds {
  readonly total: number;
  readonly ofClient: number;
}

interface WeighedRequest {
  readonly client: string;
  readonly weight: number;
}

interface Waiting extends WeighedRequest {
  begin(): void;
}

export class WeighedTurns {
  readonly #bounds: WeightBounds;
  #weight = 0;
  /** Clients without weight have no entry. */
  readonly #byClient = new Map<string, number>();
  /** By client, in the order of their turns: a client whose request begins goes to the end. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(bounds: WeightBounds) {
    this.#bounds = bounds;
  }

  /**
   * Does the work when its turn comes. The turn ends when the work calls `endTurn`, or is done. A request that weighs more than its client may
   * have counts as much as that. Rejects with TIMEOUT or CANCELLED if the deadline comes first.
   */
  async run<Result>(
    client: string,
    weight: number,
    deadline: Deadline | null,
    work: (endTurn: () => void) => Promise<Result>,
  ): Promise<Result> {
    const request = { client, weight: Math.min(weight, this.#bounds.ofClient) };
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
  #wait(request: WeighedRequest, deadline: Deadline | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        ...request,
        begin: (): void => {
          this.#withdraw(waiting);
          this.#putLast(request.client);
          this.#enter(request);
          deadline?.onStop(null);
          resolve();
        },
      };
      const others = this.#waiting.get(request.client);
      if (others === undefined) this.#waiting.set(request.client, [waiting]);
      else others.push(waiting);
      deadline?.onStop((reason) => {
        this.#withdraw(waiting);
        reject(explainStop(reason));
        // The others may have been waiting for this request.
        this.#beginNext();
      });
      // All waiting requests may belong to clients that use their full share; then this one can begin.
      this.#beginNext();
    });
  }

  #withdraw(waiting: Waiting): void {
    const { client } = waiting;
    const rest = this.#waiting.get(client)?.filter((other) => other !== waiting) ?? [];
    if (rest.length > 0) this.#waiting.set(client, rest);
    else this.#waiting.delete(client);
  }

  /** The client's other requests wait behind those of clients that have waited longer. */
  #putLast(client: string): void {
    const rest = this.#waiting.get(client);
    if (rest === undefined) return;
    this.#waiting.delete(client);
    this.#waiting.set(client, rest);
  }

  #mayBegin({ client, weight }: WeighedRequest): boolean {
    return this.#weight + weight <= this.#bounds.total && this.#clientMayBegin(client, weight);
  }

  #clientMayBegin(client: string, weight: number): boolean {
    return (this.#byClient.get(client) ?? 0) + weight <= this.#bounds.ofClient;
  }

  #enter({ client, weight }: WeighedRequest): void {
    this.#weight += weight;
    this.#byClient.set(client, (this.#byClient.get(client) ?? 0) + weight);
  }

  #leave({ client, weight }: WeighedRequest): void {
    this.#weight -= weight;
    const left = this.#byClient.get(client)! - weight;
    if (left === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, left);
    this.#beginNext();
  }

  #beginNext(): void {
    for (let next = this.#findNext(); next !== null; next = this.#findNext()) next.begin();
  }

  /**
   * The next request that may begin: of the client that has waited longest for a turn, skipping clients that use their full share. If it does not
   * fit yet, smaller ones of others wait too, so that it is not overtaken for ever.
   */
  #findNext(): Waiting | null {
    for (const [first] of this.#waiting.values()) {
      if (!this.#clientMayBegin(first!.client, first!.weight)) continue;
      return this.#mayBegin(first!) ? first! : null;
    }
    return null;
  }
}
