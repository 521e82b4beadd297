/**
 * Counts the requests and bytes in flight, per client and in total, and decides whether there is room for another request. In: requests as they begin
 * and end; out: why a request is rejected. The checks are cheap, so that rejecting costs next to nothing.
 */

/** The most that the server holds at one time. */
export interface InFlightLimits {
  /** Total requests. */
  readonly requests: number;
  /** Requests of one address, and of one user. */
  readonly clientRequests: number;
  /** Bytes of request bodies and unwritten responses. One address may use half of them. */
  readonly bytes: number;
}

/** What one client has in flight: an address, or the user that a token names. */
export interface Share {
  readonly name: string;
  requests: number;
  bytes: number;
  /** Number of references, such as from connections: the share is removed when there are none. */
  references: number;
}

const refusals = {
  requests: 'The server is processing too many requests. Try again later.',
  clientRequests: 'This client has too many requests in progress. Wait for responses before you send more.',
  bytes: 'The server is holding too many bytes of requests and responses. Try again later.',
  clientBytes:
    'The requests and responses of this client that are in progress are too large in total. Wait for responses before you send more.',
} as const;

/** Why a request is rejected, as a message for the client. */
export type Refusal = (typeof refusals)[keyof typeof refusals];

export class Admission {
  readonly #limits: InFlightLimits;
  readonly #shares = new Map<string, Share>();
  #requests = 0;
  #bytes = 0;
  /** Called when bytes are rejected, to end connections that do not read their responses: those of one client, or of all if null. */
  onPressure: ((share: Share | null) => void) | null = null;

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
  }

  /** The share of a client, which must be released with `forget`. */
  refer(name: string): Share {
    const share = this.#shares.get(name);
    if (share !== undefined) return this.referAgain(share);
    const added = { name, requests: 0, bytes: 0, references: 1 };
    this.#shares.set(name, added);
    return added;
  }

  /** Another reference to the same share, which must be released too. */
  referAgain(share: Share): Share {
    share.references += 1;
    return share;
  }

  forget(share: Share): void {
    share.references -= 1;
    if (share.references === 0) this.#shares.delete(share.name);
  }

  /** Why another request of the client is rejected; null if there is room. */
  refuse(share: Share): Refusal | null {
    if (this.#requests >= this.#limits.requests) return refusals.requests;
    if (share.requests >= this.#limits.clientRequests) return refusals.clientRequests;
    return this.refuseBytes(share);
  }

  /** Why a client's bytes are rejected; null if there is room. */
  refuseBytes(share: Share): Refusal | null {
    if (this.#bytes > this.#limits.bytes) {
      this.onPressure?.(null);
      return refusals.bytes;
    }
    if (share.bytes <= this.#limits.bytes / 2) return null;
    this.onPressure?.(share);
    return refusals.clientBytes;
  }

  /** Why another request of a user is rejected; null if there is room. */
  refuseUser(share: Share): Refusal | null {
    return share.requests >= this.#limits.clientRequests ? refusals.clientRequests : null;
  }

  /** A request has begun. */
  enter(share: Share): void {
    this.#requests += 1;
    share.requests += 1;
  }

  /** A request has ended. */
  leave(share: Share): void {
    this.#requests -= 1;
    share.requests -= 1;
  }

  /** Adds to the bytes held for a client; a negative number releases some. */
  hold(share: Share, bytes: number): void {
    this.#bytes += bytes;
    share.bytes += bytes;
  }

  /** What is held now. */
  get held(): { readonly requests: number; readonly bytes: number; readonly clients: number } {
    return { requests: this.#requests, bytes: this.#bytes, clients: this.#shares.size };
  }
}
