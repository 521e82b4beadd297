/**
 * An exchange of a `node:http` server, on a connection that it shares with others. In: Node's request and response, possibly wrapped by a
 * framework; out: the bytes of the body, and the response, written.
 */
import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { ResponseBody } from '../engine/run/response.ts';
import type { Admission, Share } from './admission.ts';
import { checkHead } from './check-head.ts';
import { peerAddress } from './client-address.ts';
import { CollectedRequest } from './collected-request.ts';
import type { Connection } from './connection.ts';
import { Exchange } from './exchange.ts';
import { type BodyReader, readBody } from './read-body.ts';
import type { Expectation } from './route-exchange.ts';
import { writeBody } from './write-body.ts';

export class NodeExchange extends Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  /** With `continue`, the client waits for `100 Continue` before it sends the body. */
  readonly expects: Expectation;
  /** Reads the body; null before and after. */
  body: BodyReader | null = null;
  /** Whether another request may follow on the connection. False if the headers leave it unclear where this one ends. */
  #isHeadClear = false;

  constructor(request: IncomingMessage, response: ServerResponse, connection: Connection, requestId: string, expects: Expectation) {
    super(requestId);
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.expects = expects;
    response.on('finish', () => this.#finish());
  }

  get method(): string | undefined {
    return this.request.method;
  }

  get url(): string {
    return this.request.url ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  get remoteAddress(): string {
    return peerAddress(this.request.socket);
  }

  checkHead(): void {
    checkHead(this.request, this.connection.joinsHeaders);
    this.#isHeadClear = this.expects !== 'continue';
  }

  referAddress(admission: Admission): Share {
    return admission.referAgain(this.connection.share);
  }

  readBody(limit: number): Promise<Buffer> {
    if (this.expects === 'continue') this.#askForBody(limit);
    return readBody(this, limit);
  }

  respond(status: number, headers: string[], body: ResponseBody | null, isLast: boolean): void {
    const { response } = this;
    // A framework may have responded meanwhile, for example because of its own time limit.
    if (response.headersSent) return;
    if (isLast || !this.#isHeadClear || this.connection.endsWith(this)) {
      headers.push('connection', 'close');
      this.connection.endAfterLatest();
    }
    writeHead(response, status, headers);
    if (body === null) response.end();
    else writeBody(response, body, this);
  }

  destroy(): void {
    this.response.destroy();
  }

  override endHandling(): void {
    super.endHandling();
    this.connection.noteHandedOver(this);
  }

  /** A part of a long response is with the socket. */
  notePart(): void {
    this.connection.notePart(this);
  }

  #askForBody(limit: number): void {
    if (Number(this.request.headers['content-length'] ?? 0) > limit) return;
    this.#isHeadClear = true;
    this.response.writeContinue();
  }

  #finish(): void {
    if (this.request instanceof CollectedRequest) this.request.forgetBody();
    this.finish();
    this.connection.end(this);
  }
}

/** Node writes a flat list fastest. A `writeHead` that was replaced, as compressing middleware does, may not accept that form. */
function writeHead(response: ServerResponse, status: number, headers: string[]): void {
  const vary = response.getHeader('vary');
  if (vary !== undefined) addVary(headers, String(vary));
  if (response.writeHead === ServerResponse.prototype.writeHead) {
    response.writeHead(status, headers);
    return;
  }
  for (let index = 0; index < headers.length; index += 2) response.setHeader(headers[index]!, headers[index + 1]!);
  response.writeHead(status);
}

/** Adds the Vary header that earlier middleware has set for its part of the response. */
function addVary(headers: string[], given: string): void {
  const index = headers.indexOf('vary') + 1;
  if (index === 0) return;
  const known = headers[index]!.toLowerCase().split(', ');
  const more = given.split(',').map((name) => name.trim());
  headers[index] = [headers[index], ...more.filter((name) => name !== '' && !known.includes(name.toLowerCase()))].join(', ');
}
