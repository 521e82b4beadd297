/**
 * One project's part of what the server holds: its requests and bytes also count for the whole server. A project may use at most half of
 * the room, and projects that use much leave a fifth of it to those that use little. In and out as for `Admission`.
 */
import { type Admission, type AdmissionCounts, type Refusal, refusals, type Share } from './admission.ts';

/** One in this many requests and bytes is kept for projects that have less than the following. */
const spareOf = 5;
const fewRequests = 10;
const littleBytes = 256 * 1024;

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
    if (this.#bytes <= mostBytes / 2 && !(isScarce && this.#bytes > littleBytes)) return null;
    this.#whole.onPressure?.(null);
    return refusals.projectBytes;
  }
}
