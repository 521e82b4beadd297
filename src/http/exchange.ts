/**
 * One request and its response, from the headers of the request to the last byte of the response: what it holds, and what happens when its client disconnects
 * or sends a broken body. In: what happens to it; out: its share of the server, released when it is over.
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
  /** The deadline of an admitted request; null before admission. */
  deadline: Deadline | null = null;
  /** Set by the reader of the body; called when the rest of it cannot be read. */
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

  /** Whether the client has disconnected, so that nobody reads the response. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Admits the request; the exchange must then release the share. */
  admit(admission: Admission, share: Share): void {
    this.#admission = admission;
    this.#share = share;
    admission.enter(share);
  }

  /** Counts the request for a user too; the exchange must then release the share. */
  admitUser(share: Share): void {
    this.#user = share;
    share.requests += 1;
  }

  /** Holds more bytes until the exchange is over. */
  hold(bytes: number): void {
    if (this.#admission === null || this.#share === null) return;
    this.#heldBytes += bytes;
    this.#admission.hold(this.#share, bytes);
  }

  /** Why no more bytes are accepted from this client now; null if there is room. */
  refuseBytes(): string | null {
    return this.#admission === null || this.#share === null ? null : this.#admission.refuseBytes(this.#share);
  }

  /** The work is done and the response handed over. Room is released only then, even if the client disconnected earlier. */
  endHandling(): void {
    this.deadline?.end();
    this.#isHandled = true;
    this.connection.noteHandedOver(this);
    if (this.#isOver) this.#release();
  }

  /** The connection ended before the response was complete. */
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
