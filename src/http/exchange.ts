/**
 * One request and its response, from the head of the request to the last byte of the response: what it holds, and what becomes of it when its client goes away
 * or sends a body that is broken. In: what happens to it; out: room for others when it is over.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Deadline } from '../budget/deadline.ts';
import type { ApiError } from '../errors.ts';
import type { Admission, Share } from './admission.ts';
import type { Connection } from './connection.ts';

export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly requestId: string;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
  /** Of requests that are run; null before they are admitted. */
  deadline: Deadline | null = null;
  /** Called when the rest of the body cannot be read, by whoever reads it. */
  onBrokenBody: ((reason: ApiError) => void) | null = null;
  #admission: Admission | null = null;
  #share: Share | null = null;
  #user: Share | null = null;
  #heldBytes = 0;
  #isHandled = false;
  #isOver = false;
  #isGone = false;

  constructor(request: IncomingMessage, response: ServerResponse, connection: Connection, requestId: string, expectsContinue: boolean) {
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.requestId = requestId;
    this.expectsContinue = expectsContinue;
    response.on('finish', () => this.#finish());
    connection.begin(this);
  }

  /** Whether the client has gone, so that nobody reads a response. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Takes room for the request; the share becomes the exchange's own to give back. */
  admit(admission: Admission, share: Share): void {
    this.#admission = admission;
    this.#share = share;
    admission.enter(share);
  }

  /** Counts the request for a user too; the share becomes the exchange's own to give back. */
  admitUser(share: Share): void {
    this.#user = share;
    share.requests += 1;
  }

  /** Holds so many bytes more, until the exchange is over. */
  hold(bytes: number): void {
    if (this.#admission === null || this.#share === null) return;
    this.#heldBytes += bytes;
    this.#admission.hold(this.#share, bytes);
  }

  /** Why no more bytes are taken from this client at the moment; null where there is room. */
  refuseBytes(): string | null {
    return this.#admission === null || this.#share === null ? null : this.#admission.refuseBytes(this.#share);
  }

  /** The work is done and the response handed over. A client that has gone makes no room by that: the work for it must have ended, too. */
  endHandling(): void {
    this.deadline?.end();
    this.#isHandled = true;
    this.connection.noteHandedOver(this);
    if (this.#isOver) this.#release();
  }

  /** The connection has ended before the response did. */
  abandon(): void {
    this.#isGone = true;
    this.#isOver = true;
    this.deadline?.stop('abandoned');
    if (this.#isHandled) this.#release();
  }

  #finish(): void {
    this.#isOver = true;
    if (this.#isHandled) this.#release();
    this.connection.end(this);
  }

  #release(): void {
    const admission = this.#admission;
    const share = this.#share;
    if (admission === null || share === null) return;
    this.#admission = null;
    admission.hold(share, -this.#heldBytes);
    admission.leave(share);
    admission.forget(share);
    if (this.#user === null) return;
    this.#user.requests -= 1;
    admission.forget(this.#user);
  }
}
