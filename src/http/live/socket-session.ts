/**
 * A client's connection over a WebSocket, by the protocol graphql-transport-ws: who it is, its operations, and its end. Written here because
 * the server of graphql-ws encodes each answer anew for each socket, and knows neither slow clients nor new tokens.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Identity, identifyByKey, identityOf } from '../../auth/authenticate.ts';
import { Deadline, explainStop, untilStopped } from '../../budget/deadline.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Share } from '../admission/admission.ts';
import { askApplication } from '../endpoint/begin-request.ts';
import { toReportedError } from '../endpoint/error-response.ts';
import type { Exchange, MessageSocket, SocketListener } from '../endpoint/exchange.ts';
import { readParameters } from '../endpoint/read-request.ts';
import { IdentityWatch } from './identity-watch.ts';
import type { LiveConnection } from './live-connections.ts';
import type { LiveParts } from './live-wish.ts';
import {
  type ClientMessage,
  closeCodes,
  closeWith,
  readCredentials,
  readMessage,
  type SentCredentials,
  shortenReason,
} from './socket-messages.ts';
import { SocketOperation } from './socket-operation.ts';

/** Operations of one socket that wait for their first answer. Further messages are read when one of them has it. */
const mostStarting = 20;
/** In bytes. A client that does not read what it has asked for, besides answers, is disconnected. */
const mostUnread = 256 * 1024;

type State = 'new' | 'identifying' | 'ready' | 'closed';

export class SocketSession implements SocketListener, LiveConnection {
  readonly #exchange: Exchange;
  readonly #socket: MessageSocket;
  readonly #parts: LiveParts;
  readonly #holder: { readonly share: Share } & Pick<LiveParts, 'admission' | 'project'>;
  readonly #started = performance.now();
  readonly #end = Promise.withResolvers<void>();
  readonly #operations = new Map<string, SocketOperation>();
  readonly #inbox: Buffer[] = [];
  #onKnown: (() => void) | null;
  #state: State = 'new';
  #headers: IncomingHttpHeaders;
  #watch: IdentityWatch | null = null;
  #isReading = false;
  #starting = 0;
  #operationCount = 0;
  #unread = 0;
  #lastPing = performance.now();
  #isAlive = true;
  /** Whether the socket is not read, so that its pongs cannot be seen: messages before them wait. */
  #isHeld = false;
  /** How the server has closed it; null if it has not. */
  closed: { readonly code: number; readonly reason: string } | null = null;

  /** `onKnown` is called once, when the client has said who it is, or has gone. */
  constructor(exchange: Exchange, socket: MessageSocket, parts: LiveParts, share: Share, onKnown: () => void) {
    this.#exchange = exchange;
    this.#socket = socket;
    this.#parts = parts;
    this.#holder = { admission: parts.admission, project: parts.project, share };
    this.#onKnown = onKnown;
    this.#headers = withoutForeignCookies(exchange.headers, parts);
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  /** Serves the client. Resolves when the socket has closed. */
  run(): Promise<void> {
    this.#socket.listen(this);
    return this.#end.promise;
  }

  /** Closes the socket at once. */
  refuse(code: number, reason: string): Promise<void> {
    this.#socket.listen(this);
    this.#close(code, reason);
    return this.#end.promise;
  }

  message(data: Buffer, isBinary: boolean): void {
    if (this.#state === 'closed') return;
    this.#isAlive = true;
    if (isBinary) return this.#close(closeCodes.invalidMessage, 'Send text messages.');
    this.#inbox.push(data);
    void this.#readInbox();
  }

  alive(): void {
    this.#isAlive = true;
  }

  gone(): void {
    this.#leave();
    this.#end.resolve();
  }

  tick(now: number): void {
    if (this.#state === 'closed') return;
    const { initTimeout, liveHeartbeat } = this.#parts;
    if (this.#watch === null && now - this.#started >= initTimeout)
      return this.#close(closeCodes.initTimeout, 'Connection initialisation timeout');
    if (now - this.#lastPing >= liveHeartbeat) {
      // A connection of which the other end has gone may look open for hours.
      if (!this.#isAlive && !this.#isHeld) return this.#socket.terminate();
      this.#isAlive = false;
      this.#lastPing = now;
      this.#socket.ping();
    }
    this.#watch?.check();
  }

  dismiss(error: ApiError): void {
    const { code, reason } = closeWith(error);
    this.#close(code, reason);
  }

  /** In order. What must be waited for keeps later messages waiting. */
  async #readInbox(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#inbox.length > 0 && this.#state !== 'closed' && this.#starting < mostStarting) {
      const waiting = this.#read(this.#inbox.shift()!);
      if (waiting !== null) {
        this.#hold();
        await waiting;
      }
    }
    this.#isReading = false;
    if (this.#inbox.length > 0) this.#hold();
    else this.#release();
  }

  #hold(): void {
    this.#isHeld = true;
    this.#socket.pause();
  }

  /** The client has the time of a heartbeat to show that it is there. */
  #release(): void {
    if (this.#isHeld) this.#isAlive = true;
    this.#isHeld = false;
    this.#socket.resume();
  }

  #read(data: Buffer): Promise<void> | null {
    try {
      return this.#obey(readMessage(data), data.length);
    } catch (error) {
      this.#close(closeCodes.invalidMessage, (error as Error).message);
      return null;
    }
  }

  /** Throws an `Error` for an invalid message. Returns a promise, which never rejects, if later messages must wait. */
  #obey(message: ClientMessage, length: number): Promise<void> | null {
    switch (message.type) {
      case 'connection_init':
        if (this.#state !== 'new') this.#close(closeCodes.repeatedInit, 'Too many initialisation requests');
        else return this.#identify(readCredentials(message.payload), () => this.#send('{"type":"connection_ack"}'));
        return null;
      case 'ping': {
        const credentials = readCredentials(message.payload);
        const pong = (): void => this.#send(JSON.stringify({ ...message, type: 'pong', payload: pongOf(message.payload) }));
        const { apikey, authorization = null } = credentials;
        const isNew = apikey !== undefined || credentials.authorization !== undefined;
        // Without a token it goes on as the key alone: whoever logs out must not stay whom they were.
        if (isNew && this.#state === 'ready') return this.#identify({ apikey, authorization }, pong);
        pong();
        return null;
      }
      case 'pong':
        return null;
      case 'complete':
        this.#operations.get(message.id)?.stop();
        this.#operations.delete(message.id);
        return null;
      case 'subscribe':
        if (this.#state !== 'ready') this.#close(closeCodes.unauthorized, 'Unauthorized');
        else if (this.#operations.has(message.id)) this.#close(closeCodes.idInUse, `Subscriber for ${message.id} already exists`);
        else this.#start({ ...message, length });
        return null;
    }
  }

  #start({ id, payload, length }: ClientMessage & { readonly type: 'subscribe'; readonly length: number }): void {
    readParameters(payload);
    this.#operationCount += 1;
    const operation = new SocketOperation(
      { id, payload, length, requestId: `${this.#exchange.requestId}.${this.#operationCount}` },
      { parts: this.#parts, socket: this.#socket, exchange: this.#exchange, holder: this.#holder },
      (text) => this.#send(text),
    );
    this.#operations.set(id, operation);
    this.#starting += 1;
    const onStarted = (): void => {
      this.#starting -= 1;
      void this.#readInbox();
    };
    void operation.run(this.#watch!.identity, this.#headers, onStarted).then(() => {
      if (this.#operations.get(id) === operation) this.#operations.delete(id);
    });
  }

  /** Finds out who the client is: from now on, if it is known already. Never rejects. */
  async #identify(sent: SentCredentials, onKnown: () => void): Promise<void> {
    if (this.#state === 'new') this.#state = 'identifying';
    const { apikey, authorization } = sent;
    const headers = { ...this.#headers, ...(typeof apikey === 'string' && { apikey }) };
    if (authorization === null) delete headers.authorization;
    else if (authorization !== undefined) headers.authorization = authorization;
    const deadline = new Deadline(this.#parts.requestTimeout);
    try {
      const identity = await findIdentity(this.#exchange, headers, this.#parts, deadline);
      if (this.#state === 'closed') return;
      this.#headers = headers;
      this.#state = 'ready';
      const isFirst = this.#watch === null;
      this.#watch = new IdentityWatch(identity, (error) => this.dismiss(error));
      this.#noteKnown();
      onKnown();
      if (!isFirst) for (const operation of this.#operations.values()) operation.serveAs(identity, headers);
    } catch (error) {
      this.dismiss(toReportedError(error, this.#exchange.requestId, this.#parts.observe));
    } finally {
      deadline.end();
    }
  }

  /** Everything but answers, which wait until those before have been read. */
  #send(text: string): void {
    if (this.#state === 'closed') return;
    const bytes = Buffer.from(text);
    this.#unread += bytes.length;
    if (this.#unread > mostUnread) return this.#socket.terminate();
    this.#socket.send([bytes], () => {
      this.#unread -= bytes.length;
    });
  }

  #close(code: number, reason: string): void {
    if (this.#state === 'closed') return;
    this.closed = { code, reason: shortenReason(reason) };
    this.#leave();
    // The client's side of the closing is to be read.
    this.#socket.resume();
    this.#socket.close(code, this.closed.reason);
  }

  #leave(): void {
    this.#state = 'closed';
    this.#inbox.length = 0;
    this.#noteKnown();
    for (const operation of this.#operations.values()) operation.stop();
  }

  #noteKnown(): void {
    this.#onKnown?.();
    this.#onKnown = null;
  }
}

/** What a client wants to have back, but no token. */
function pongOf(payload: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => !/^(?:apikey|authorization|headers)$/i.test(name)));
}

/** As over HTTP, pages of other origins get nothing that only cookies allow. */
function withoutForeignCookies(headers: IncomingHttpHeaders, { crossOrigin }: LiveParts): IncomingHttpHeaders {
  if (!crossOrigin.isForeign(headers)) return headers;
  const { cookie: _cookie, ...others } = headers;
  return others;
}

async function findIdentity(exchange: Exchange, headers: IncomingHttpHeaders, parts: LiveParts, deadline: Deadline): Promise<Identity> {
  const { method, url, requestId } = exchange;
  const caller = await askApplication({ method, url, headers, requestId }, parts, deadline);
  if (caller !== null) return identityOf(caller);
  try {
    return await untilStopped(identifyByKey(headers, parts.verifier, parts.keyInUrl ? url : null), deadline, explainStop);
  } catch (error) {
    if (!(error instanceof ApiError) || headers.apikey !== undefined) throw error;
    throw new ApiError(error.code, `${error.message} Or send it as "apikey" in the payload of connection_init.`);
  }
}
