/**
 * Counts the requests and bytes in flight, per client and in total, and decides whether there is room for another request. The checks are
 * cheap, so rejecting costs next to nothing.
 */

/** The most that the server holds at any time. */
export interface InFlightLimits {
  /** Total requests. */
  readonly requests: number;
  /** Requests of one address, and of one user. */
  readonly clientRequests: number;
  /**
   * Bytes of request bodies and unwritten responses. One address may use half of them; clients that hold much may use four fifths together.
   */
  readonly bytes: number;
}

/** What one client has in flight. The client is an address, or the user that a token names. */
export interface Share {
  readonly name: string;
  requests: number;
  bytes: number;
  /** Number of references, for example from connections. */
  references: number;
  /** The latest client at the address that is not a user: most addresses have only one. */
  anonymous: AnonymousClient | null;
}

/** A client that is not a user: a role at an address. */
interface AnonymousClient {
  readonly role: string;
  /** The name under which it gets its share of the PostgreSQL connections. */
  readonly name: string;
}

export const refusals = {
  requests: 'The server is processing too many requests. Try again later.',
  clientRequests: 'This client has too many requests in progress. Wait for responses before you send more.',
  bytes: 'The server is holding too many bytes of requests and responses. Try again later.',
  clientBytes:
    'The requests and responses of this client that are in progress are too large in total. Wait for responses before you send more.',
  projectRequests: 'This project has too many requests in progress. Wait for responses before you send more.',
  projectBytes:
    'The requests and responses of this project that are in progress are too large in total. Wait for responses before you send more.',
} as const;

/** Why a request is rejected, as a message for the client. */
export type Refusal = (typeof refusals)[keyof typeof refusals];

/** One in this many bytes is spare, for clients that hold less than the following: they are served while a few others use up the rest. */
const spareOf = 5;
const littleBytes = 64 * 1024;

/** How many shares without references to keep: most clients come back, and removing each at once costs more. */
const mostIdleShares = 1000;

/** The part of `Admission` with which exchanges count their requests and bytes. */
export type AdmissionCounts = Pick<Admission, Exclude<keyof Admission, 'referAgain' | 'hasRoomToWait' | 'onPressure' | 'occupancy'>>;

export class Admission {
  readonly #limits: InFlightLimits;
  readonly #shares = new Map<string, Share>();
  #idleShares = 0;
  #requests = 0;
  #bytes = 0;
  /** Called for lack of room, to end connections that do not read their responses: those of one client, or of all if null. */
  onPressure: ((share: Share | null) => void) | null = null;

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
  }

  /** A reference to the share of a client; release it with `forget`. */
  refer(name: string): Share {
    const share = this.#shares.get(name);
    if (share !== undefined) return this.referAgain(share);
    if (this.#idleShares >= mostIdleShares) this.#removeIdle();
    const added = { name, requests: 0, bytes: 0, references: 1, anonymous: null };
    this.#shares.set(name, added);
    return added;
  }

  /** Another reference to the same share; release it too. */
  referAgain(share: Share): Share {
    if (share.references === 0) this.#idleShares -= 1;
    share.references += 1;
    return share;
  }

  forget(share: Share): void {
    share.references -= 1;
    if (share.references === 0) this.#idleShares += 1;
  }

  /** Why another request of the client is rejected; null if there is room. */
  refuse(share: Share): Refusal | null {
    if (this.#requests >= this.#limits.requests) {
      this.onPressure?.(null);
      return refusals.requests;
    }
    if (share.requests >= this.#limits.clientRequests) return refusals.clientRequests;
    return this.refuseBytes(share);
  }

  /** Why a client's bytes are rejected; null if there is room. */
  refuseBytes(share: Share): Refusal | null {
    const { bytes } = this.#limits;
    if (this.#bytes > (share.bytes < littleBytes ? bytes : (bytes / spareOf) * (spareOf - 1))) {
      this.onPressure?.(null);
      return refusals.bytes;
    }
    if (share.bytes <= this.#limits.bytes / 2) return null;
    this.onPressure?.(share);
    return refusals.clientBytes;
  }

  /**
   * Whether there is room for requests that wait behind others of their connection. They leave half of the room to requests that are served, as a
   * client with many addresses could fill it.
   */
  hasRoomToWait(share: Share): boolean {
    return this.#bytes <= this.#limits.bytes / 2 && this.refuseBytes(share) === null;
  }

  /** Why another request of a user is rejected; null if there is room. */
  refuseUser(share: Share): Refusal | null {
    return share.requests >= this.#limits.clientRequests ? refusals.clientRequests : null;
  }

  /** Why this many more operations of a request in flight are rejected; null if there is room. */
  refuseMore(share: Share, user: Share | null, count: number): Refusal | null {
    if (this.#requests + count > this.#limits.requests) return refusals.requests;
    const most = Math.max(share.requests, user?.requests ?? 0);
    return most + count > this.#limits.clientRequests ? refusals.clientRequests : null;
  }

  /** Adds to the operations in flight; a negative number takes some away. */
  count(share: Share, user: Share | null, count: number): void {
    this.#requests += count;
    share.requests += count;
    if (user !== null) user.requests += count;
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

  /** How many requests are in flight, and how many there may be. */
  get occupancy(): { readonly requests: number; readonly mostRequests: number; readonly bytes: number; readonly mostBytes: number } {
    return { requests: this.#requests, mostRequests: this.#limits.requests, bytes: this.#bytes, mostBytes: this.#limits.bytes };
  }

  #removeIdle(): void {
    for (const share of this.#shares.values()) if (share.references === 0) this.#shares.delete(share.name);
    this.#idleShares = 0;
  }
}

/** Projects that have less than these may use what is kept for them. */
const fewRequests = 10;
const littleOfProject = 256 * 1024;

export class AdmissionPart implements AdmissionCounts {
  readonly #name: string;
  readonly #whole: Admission;
  #requests = 0;
  #bytes = 0;

  /** `name` distinguishes its users from those of other parts. */
  constructor(name: string, whole: Admission) {
    this.#name = name;
    this.#whole = whole;
  }

  refer(name: string): Share {
    return this.#whole.refer(`${this.#name} ${name}`);
  }

  forget(share: Share): void {
    this.#whole.forget(share);
  }

  refuse(share: Share): Refusal | null {
    return this.#refuseRequests(1) ?? this.#refuseOwnBytes() ?? this.#whole.refuse(share);
  }

  refuseBytes(share: Share): Refusal | null {
    return this.#refuseOwnBytes() ?? this.#whole.refuseBytes(share);
  }

  refuseUser(share: Share): Refusal | null {
    return this.#whole.refuseUser(share);
  }

  refuseMore(share: Share, user: Share | null, count: number): Refusal | null {
    return this.#refuseRequests(count) ?? this.#whole.refuseMore(share, user, count);
  }

  count(share: Share, user: Share | null, count: number): void {
    this.#requests += count;
    this.#whole.count(share, user, count);
  }

  enter(share: Share): void {
    this.#requests += 1;
    this.#whole.enter(share);
  }

  leave(share: Share): void {
    this.#requests -= 1;
    this.#whole.leave(share);
  }

  hold(share: Share, bytes: number): void {
    this.#bytes += bytes;
    this.#whole.hold(share, bytes);
  }

  #refuseRequests(more: number): Refusal | null {
    const { requests, mostRequests } = this.#whole.occupancy;
    const own = this.#requests + more;
    const isScarce = requests + more > mostRequests - mostRequests / spareOf;
    return own > Math.max(1, mostRequests / 2) || (isScarce && own > fewRequests) ? refusals.projectRequests : null;
  }

  #refuseOwnBytes(): Refusal | null {
    const { bytes, mostBytes } = this.#whole.occupancy;
    const isScarce = bytes > mostBytes - mostBytes / spareOf;
    if (this.#bytes <= mostBytes / 2 && !(isScarce && this.#bytes > littleOfProject)) return null;
    this.#whole.onPressure?.(null);
    return refusals.projectBytes;
  }
}
