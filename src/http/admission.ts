/**
 * How many requests and bytes a server has in hand, of each client and in all, and whether there is room for another request. In: what comes and
 * goes; out: why a request is refused. The looks are cheap, so that refusing costs next to nothing.
 */

/** What the server holds at most at one time. */
export interface InFlightLimits {
  /** Requests in all. */
  readonly requests: number;
  /** Requests of one address, and of one user. */
  readonly clientRequests: number;
  /** Bytes of bodies and of responses that are not yet written. One address may have half of them. */
  readonly bytes: number;
}

/** What one client has in hand: an address, or the user whom a token names. */
export interface Share {
  readonly name: string;
  requests: number;
  bytes: number;
  /** Who refers to it, such as connections: it is forgotten when nobody does. */
  references: number;
}

const refusals = {
  requests: 'The server has as many requests in hand as it takes: try again in a while.',
  clientRequests: 'This client has as many requests in hand as it may: wait for answers before you send more.',
  bytes: 'The server holds as many bytes of requests and answers as it takes: try again in a while.',
  clientBytes: 'The requests and answers of this client that are in hand are too large together: wait for answers before you send more.',
} as const;

/** Why a request is refused, in words for the client. */
export type Refusal = (typeof refusals)[keyof typeof refusals];

export class Admission {
  readonly #limits: InFlightLimits;
  readonly #shares = new Map<string, Share>();
  #requests = 0;
  #bytes = 0;
  /** Called where bytes are refused, for answers that nobody reads to be given up: those of a client, or null for those of all. */
  onPressure: ((share: Share | null) => void) | null = null;

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
  }

  /** The share of a client, which has to be given back by `forget`. */
  refer(name: string): Share {
    const share = this.#shares.get(name);
    if (share !== undefined) return this.referAgain(share);
    const added = { name, requests: 0, bytes: 0, references: 1 };
    this.#shares.set(name, added);
    return added;
  }

  /** The same share for somebody else, who has to give it back too. */
  referAgain(share: Share): Share {
    share.references += 1;
    return share;
  }

  forget(share: Share): void {
    share.references -= 1;
    if (share.references === 0) this.#shares.delete(share.name);
  }

  /** Why another request of the client is refused; null where there is room. */
  refuse(share: Share): Refusal | null {
    if (this.#requests >= this.#limits.requests) return refusals.requests;
    if (share.requests >= this.#limits.clientRequests) return refusals.clientRequests;
    return this.refuseBytes(share);
  }

  /** Why a client's bytes are refused; null where there is room. */
  refuseBytes(share: Share): Refusal | null {
    if (this.#bytes > this.#limits.bytes) {
      this.onPressure?.(null);
      return refusals.bytes;
    }
    if (share.bytes <= this.#limits.bytes / 2) return null;
    this.onPressure?.(share);
    return refusals.clientBytes;
  }

  /** Why another request of a user is refused; null where there is room. */
  refuseUser(share: Share): Refusal | null {
    return share.requests >= this.#limits.clientRequests ? refusals.clientRequests : null;
  }

  /** A request is in hand. */
  enter(share: Share): void {
    this.#requests += 1;
    share.requests += 1;
  }

  /** It no longer is. */
  leave(share: Share): void {
    this.#requests -= 1;
    share.requests -= 1;
  }

  /** So many bytes more are held for a client; fewer where the number is negative. */
  hold(share: Share, bytes: number): void {
    this.#bytes += bytes;
    share.bytes += bytes;
  }

  /** What is held at the moment. */
  get held(): { readonly requests: number; readonly bytes: number; readonly clients: number } {
    return { requests: this.#requests, bytes: this.#bytes, clients: this.#shares.size };
  }
}
