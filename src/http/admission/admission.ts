/**
 * Counts the requests and bytes in flight: per client, per project and in total. Rejecting a request for lack of room costs next to
 * nothing.
 */

/** The most that the server holds at any time. */
interface InFlightLimits {
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
  /** The latest client at the address that is not a user, with the name under which it gets its share of the PostgreSQL connections. */
  anonymous: { readonly role: string; readonly name: string } | null;
}

/**
 * What one project has in flight, which also counts for the whole server. A project may use at most half of the room, and projects that use
 * much leave a fifth of it to those that use little. `name` distinguishes its users from those of others.
 */
export interface ProjectPart {
  readonly name: string;
  requests: number;
  bytes: number;
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

/** Four fifths of the room; the rest is for clients and projects that hold less than the following, while others use up the first part. */
const plenty = 0.8;
const littleOfClient = 64 * 1024;
const littleOfProject = 256 * 1024;
const fewOfProject = 10;

/** How many shares without references to keep: most clients come back, and removing each at once costs more. */
const mostIdleShares = 1000;

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

  /** Admits a request of a client, whose share is released with it, or says why there is no room. */
  admit(share: Share, project: ProjectPart | null): AdmittedRequest | Refusal {
    const refusal = this.#refuse(share, project);
    if (refusal === null) return new AdmittedRequest(this, share, project, 1);
    this.forget(share);
    return refusal;
  }

  /** Admits only the bytes of the response to a request that is not for the endpoint. */
  admitResponse(share: Share, length: number): AdmittedRequest | Refusal {
    const refusal = this.refuseBytes(share, null);
    if (refusal !== null) {
      this.forget(share);
      return refusal;
    }
    const admitted = new AdmittedRequest(this, share, null, 0);
    admitted.hold(length);
    return admitted;
  }

  /** Why a client's bytes are rejected; null if there is room. */
  refuseBytes(share: Share, project: ProjectPart | null): Refusal | null {
    const { bytes } = this.#limits;
    const isScarce = this.#bytes > bytes * plenty;
    if (project !== null && (project.bytes > bytes / 2 || (isScarce && project.bytes > littleOfProject))) {
      this.onPressure?.(null);
      return refusals.projectBytes;
    }
    if (this.#bytes > bytes || (isScarce && share.bytes >= littleOfClient)) {
      this.onPressure?.(null);
      return refusals.bytes;
    }
    if (share.bytes <= bytes / 2) return null;
    this.onPressure?.(share);
    return refusals.clientBytes;
  }

  /** Why this many more operations of a request in flight are rejected; null if there is room. */
  refuseMore(share: Share, user: Share | null, project: ProjectPart | null, count: number): Refusal | null {
    const { requests, clientRequests } = this.#limits;
    if (this.#isTooMuch(project, count)) return refusals.projectRequests;
    if (this.#requests + count > requests) return refusals.requests;
    return Math.max(share.requests, user?.requests ?? 0) + count > clientRequests ? refusals.clientRequests : null;
  }

  isFullOf(user: Share): boolean {
    return user.requests >= this.#limits.clientRequests;
  }

  /** Adds to the operations in flight; a negative number takes some away. */
  count(share: Share, user: Share | null, project: ProjectPart | null, count: number): void {
    this.#requests += count;
    share.requests += count;
    if (user !== null) user.requests += count;
    if (project !== null) project.requests += count;
  }

  /** Adds to the bytes held for a client; a negative number releases some. */
  hold(share: Share, project: ProjectPart | null, bytes: number): void {
    this.#bytes += bytes;
    share.bytes += bytes;
    if (project !== null) project.bytes += bytes;
  }

  #refuse(share: Share, project: ProjectPart | null): Refusal | null {
    if (this.#isTooMuch(project, 1)) return refusals.projectRequests;
    if (this.#requests >= this.#limits.requests) {
      this.onPressure?.(null);
      return refusals.requests;
    }
    return this.isFullOf(share) ? refusals.clientRequests : this.refuseBytes(share, project);
  }

  #isTooMuch(project: ProjectPart | null, more: number): boolean {
    if (project === null) return false;
    const { requests } = this.#limits;
    const own = project.requests + more;
    return own > Math.max(1, requests / 2) || (this.#requests + more > requests * plenty && own > fewOfProject);
  }

  #removeIdle(): void {
    for (const share of this.#shares.values()) if (share.references === 0) this.#shares.delete(share.name);
    this.#idleShares = 0;
  }
}

/** What a request holds of the server until it is released. */
export class AdmittedRequest {
  readonly #admission: Admission;
  readonly #share: Share;
  readonly #project: ProjectPart | null;
  #user: Share | null = null;
  #requests: number;
  #bytes = 0;

  constructor(admission: Admission, share: Share, project: ProjectPart | null, requests: number) {
    this.#admission = admission;
    this.#share = share;
    this.#project = project;
    this.#requests = requests;
    admission.count(share, null, project, requests);
  }

  get client(): Share {
    return this.#share;
  }

  /** Counts the request for a user too. Returns why it is rejected; null if there is room. */
  admitUser(name: string): Refusal | null {
    const user = this.#admission.refer(this.#project === null ? name : `${this.#project.name} ${name}`);
    if (this.#admission.isFullOf(user)) {
      this.#admission.forget(user);
      return refusals.clientRequests;
    }
    this.#user = user;
    user.requests += this.#requests;
    return null;
  }

  /**
   * Counts further operations, until they are taken away by a negative number. Returns why they are rejected; null if there is room for
   * all.
   */
  admitMore(count: number): Refusal | null {
    const refusal = this.#admission.refuseMore(this.#share, this.#user, this.#project, count);
    if (refusal === null) this.#count(count);
    return refusal;
  }

  leaveMore(count: number): void {
    this.#count(-count);
  }

  hold(bytes: number): void {
    this.#bytes += bytes;
    this.#admission.hold(this.#share, this.#project, bytes);
  }

  refuseBytes(): Refusal | null {
    return this.#admission.refuseBytes(this.#share, this.#project);
  }

  release(): void {
    this.#count(-this.#requests);
    this.hold(-this.#bytes);
    this.#admission.forget(this.#share);
    if (this.#user !== null) this.#admission.forget(this.#user);
  }

  #count(count: number): void {
    this.#requests += count;
    this.#admission.count(this.#share, this.#user, this.#project, count);
  }
}
