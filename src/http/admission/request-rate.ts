/** Counts the requests of each address in time windows. */
import { LRUCache } from 'lru-cache';

interface RateLimit {
  readonly max: number;
  readonly windowMilliseconds: number;
}

export interface RequestWindow {
  readonly count: number;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** The windows that several processes share. */
export interface SharedWindows {
  /** The window of an address with these requests; null if it is not known. Never rejects. */
  countRequests(address: string, requests: number, windowMilliseconds: number): Promise<RequestWindow | null>;
}

/** `headers` are alternating names and values. */
interface Counted {
  readonly isAllowed: boolean;
  readonly headers: readonly string[];
}

/** Number of addresses to remember. The least recently seen are forgotten first. */
const maximumAddresses = 100_000;

export class RequestRate {
  readonly #limit: RateLimit;
  readonly #shared: SharedWindows | null;
  readonly #windows = new LRUCache<string, RequestWindow>({ max: maximumAddresses });

  /** `shared`: null if this process counts alone. */
  constructor(limit: RateLimit, shared: SharedWindows | null) {
    this.#limit = limit;
    this.#shared = shared;
  }

  /** Counts requests: one, or as many as a batch has. */
  count(address: string, requests = 1): Counted | Promise<Counted> {
    const { max, windowMilliseconds } = this.#limit;
    const now = performance.now();
    const known = this.#windows.get(address);
    const { count, endsAt } = known !== undefined && now < known.endsAt ? known : { count: 0, endsAt: now + windowMilliseconds };
    const window = { count: count + requests, endsAt };
    this.#windows.set(address, window);
    // The others need not be asked about an address that has sent too much already.
    if (this.#shared === null || count >= max) return this.#judge(window);
    return this.#shared.countRequests(address, requests, windowMilliseconds).then((shared) => {
      if (shared !== null) this.#windows.set(address, shared);
      return this.#judge(shared ?? window);
    });
  }

  #judge({ count, endsAt }: RequestWindow): Counted {
    const { max } = this.#limit;
    const isAllowed = count <= max;
    const seconds = String(Math.max(1, Math.ceil((endsAt - performance.now()) / 1000)));
    const left = String(Math.max(0, max - count));
    const headers = ['x-ratelimit-limit', String(max), 'x-ratelimit-remaining', left, 'x-ratelimit-reset', seconds];
    return { isAllowed, headers: isAllowed ? headers : [...headers, 'retry-after', seconds] };
  }
}
