/** Counts the requests of each address in time windows. */
import { LRUCache } from 'lru-cache';

interface RateLimit {
  readonly max: number;
  readonly windowMilliseconds: number;
}

interface Window {
  count: number;
  readonly endsAt: number;
}

/** Number of addresses to remember. The least recently seen are forgotten first. */
const maximumAddresses = 100_000;

export class RequestRate {
  readonly #limit: RateLimit;
  readonly #windows = new LRUCache<string, Window>({ max: maximumAddresses });

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** Counts requests: one, or as many as a batch has. `headers` are alternating names and values. */
  count(address: string, requests = 1): { readonly isAllowed: boolean; readonly headers: readonly string[] } {
    const now = performance.now();
    let window = this.#windows.get(address);
    if (window === undefined || now >= window.endsAt) {
      window = { count: 0, endsAt: now + this.#limit.windowMilliseconds };
      this.#windows.set(address, window);
    }
    window.count += requests;
    const { max } = this.#limit;
    const isAllowed = window.count <= max;
    const seconds = String(Math.max(1, Math.ceil((window.endsAt - now) / 1000)));
    const left = String(Math.max(0, max - window.count));
    const headers = ['x-ratelimit-limit', String(max), 'x-ratelimit-remaining', left, 'x-ratelimit-reset', seconds];
    return { isAllowed, headers: isAllowed ? headers : [...headers, 'retry-after', seconds] };
  }
}
