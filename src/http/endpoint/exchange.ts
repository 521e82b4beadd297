/**
 * One request and its response, whatever carries them: what it holds of the server from its first byte to the last byte of the response,
 * and whether its client still waits.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Deadline } from '../../budget/deadline.ts';
import type { ResponseBody } from '../../engine/run/response.ts';
import type { Admission, AdmittedRequest, Share } from '../admission/admission.ts';

/** In bytes. */
const smallResponse = 64 * 1024;

/** A response that goes on: its head has been sent. */
export interface ResponseStream {
  /** Hands over bytes, and calls back when the client's side of the connection has taken them, or is gone. */
  write(pieces: readonly Uint8Array[], onSent: () => void): void;
  end(): void;
}

/** What a request to open a WebSocket offers. */
export interface SocketOffer {
  /** Completes the handshake. Messages may have so many bytes. Throws BAD_REQUEST if the request is not a handshake of WebSocket. */
  accept(maxPayload: number): Promise<MessageSocket>;
}

/** An open WebSocket, whatever implements it. */
export interface MessageSocket {
  /** The subprotocol that was agreed on; '' if there is none. */
  readonly protocol: string;
  listen(listener: SocketListener): void;
  /** Sends one text message, and calls back when the client's side of the connection has taken it, or is gone. */
  send(pieces: readonly Uint8Array[], onSent: () => void): void;
  /** Asks for a sign of life, which is reported as `alive`. */
  ping(): void;
  /** Takes no more messages until `resume`, though some that have arrived may still be reported. */
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

export interface SocketListener {
  message(data: Buffer, isBinary: boolean): void;
  /** The other side is there. */
  alive(): void;
  /** The socket has closed. */
  gone(): void;
}

/** What the body of a request is: a GraphQL request, or a message of the Model Context Protocol. */
export type Protocol = 'graphql' | 'mcp';

/** What a request says ahead of its body, and where it came from. */
export interface ReceivedHead {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Names in lower case; repeated headers are joined with commas. */
  readonly headers: IncomingHttpHeaders;
  /** The address that the request came from; '' if unknown. */
  readonly remoteAddress: string;
}

export abstract class Exchange implements ReceivedHead {
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  protocol: Protocol = 'graphql';
  /** The deadline of an admitted request; null before admission. */
  deadline: Deadline | null = null;
  /** The Cache-Control of the trusted document that the request names; null if it has none. */
  cacheControl: string | null = null;
  /** Set if the request asks for a WebSocket and may get one. */
  offer: SocketOffer | null = null;
  /** Called when the client disconnects before its response has ended. */
  onGone: (() => void) | null = null;
  #admitted: AdmittedRequest | null = null;
  #address = '';
  #isHandled = false;
  #isOver = false;
  #isGone = false;

  constructor(requestId: string, { method, url, headers, remoteAddress }: ReceivedHead) {
    this.requestId = requestId;
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.remoteAddress = remoteAddress;
  }

  /** Throws BAD_REQUEST if the headers are contradictory. */
  abstract checkHead(): void;

  /** A reference to the share of the address that the request came from. */
  abstract referAddress(admission: Admission): Share;

  /**
   * The bytes of the body. Rejects with PAYLOAD_TOO_LARGE; with OVERLOADED if the server already holds too many bytes; with REQUEST_TIMEOUT
   * at the deadline; with CANCELLED if the client disconnects; and with BAD_REQUEST if the body is broken.
   */
  abstract readBody(limit: number): Promise<Buffer>;

  /** Hands over the response. Headers are alternating names and values. `isLast` ends the connection after it. */
  abstract respond(status: number, headers: string[], body: ResponseBody | null, isLast: boolean): void;

  /** Sends the head of a response that goes on. Headers are alternating names and values. */
  abstract beginStream(status: number, headers: string[]): ResponseStream;

  /** Ends the exchange without a response. */
  abstract destroy(): void;

  /** Whether something else has read the body, and decoded it. */
  get isBodyRead(): boolean {
    return false;
  }

  /** Whether the client has disconnected, so that nobody reads the response. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** The name of the client that the request counts for. */
  get address(): string {
    return this.#address;
  }

  /** What the request holds of the server; null before it is admitted and after it is over. */
  get admitted(): AdmittedRequest | null {
    return this.#admitted;
  }

  /** The exchange releases what was admitted when it is over. */
  admit(admitted: AdmittedRequest): void {
    this.#admitted = admitted;
    this.#address = admitted.client.name;
  }

  /** What has been admitted goes on without counting as a request in flight: a subscription after its first answer. */
  leaveFlight(): void {
    this.deadline?.end();
    this.#admitted?.leaveMore(1);
  }

  /** Holds more bytes until the exchange is over. */
  hold(bytes: number): void {
    this.#admitted?.hold(bytes);
  }

  /**
   * Holds the bytes of a response, whose size is unknown when its request is admitted. Returns why it must not be sent, and then holds
   * nothing; null if there is room. Small responses are always sent, and those to mutations.
   */
  holdResponse({ length, isMutation }: Pick<ResponseBody, 'length' | 'isMutation'>): string | null {
    const refusal = length > smallResponse && isMutation !== true ? this.refuseBytes() : null;
    if (refusal === null) this.hold(length);
    return refusal;
  }

  /** Why the server accepts no more bytes from this client now; null if there is room. */
  refuseBytes(): string | null {
    return this.#admitted?.refuseBytes() ?? null;
  }

  /** The work is done and the response handed over. Releases the room, which is held until then even if the client disconnected earlier. */
  endHandling(): void {
    this.deadline?.end();
    this.#isHandled = true;
    if (this.#isOver) this.#release();
  }

  /** The client disconnected before the response was complete. */
  abandon(): void {
    this.#isGone = true;
    this.#isOver = true;
    this.deadline?.stop('abandoned');
    this.onGone?.();
    if (this.#isHandled) this.#release();
  }

  /** The last byte of the response was sent. */
  protected finish(): void {
    this.#isOver = true;
    if (this.#isHandled) this.#release();
  }

  #release(): void {
    this.#admitted?.release();
    this.#admitted = null;
  }
}

/** Makes ids that are unique across processes: a random part per process, and a counter. `sent` is the header, if present. */
export function createRequestIds(): (sent?: string | string[] | null) => string {
  const prefix = randomUUID().slice(0, 13);
  let count = 0;
  return (sent) => {
    if (typeof sent === 'string' && isFitForLog(sent)) return sent;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

function isFitForLog(id: string): boolean {
  return /^[\w.:=+/@-]{1,128}$/.test(id);
}
