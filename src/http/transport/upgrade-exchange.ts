/**
 * A request to open a WebSocket, on the bare socket that Node hands over for it (RFC 6455). The protocol itself is that of the package `ws`,
 * without compression: a compressor takes 300 KB for each socket, and the lengths of compressed answers would reveal what is in them.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import type { ResponseBody } from '../../engine/run/response.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Admission, Share } from '../admission/admission.ts';
import { Exchange, type MessageSocket, type ResponseStream, type SocketListener, type SocketOffer } from '../endpoint/exchange.ts';
import { protocolName } from '../live/socket-messages.ts';
import { checkHead, headOf } from './check-head.ts';
import type { Connection, PendingExchange } from './connections.ts';
import { cutParts, PartQueue } from './part-queue.ts';

/** Pieces of one message. */
const maxFragments = 1000;
/** In milliseconds: how long the client may take for its side of the closing. */
const closeTimeout = 5000;

/** Its messages have the size that each socket is given. */
const servers = new Map<number, WebSocketServer>();

/** The package is loaded when the first client asks for a WebSocket. */
async function serverFor(maxPayload: number): Promise<WebSocketServer> {
  const existing = servers.get(maxPayload);
  if (existing !== undefined) return existing;
  const { WebSocketServer } = await import('ws');
  // The types of `ws` lack two of these.
  const options = { noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload, maxFragments, closeTimeout };
  const server = new WebSocketServer({
    ...options,
    // A client of another protocol is accepted too, to be told so: it cannot see why a handshake fails.
    handleProtocols: (protocols) => (protocols.has(protocolName) ? protocolName : ([...protocols][0] ?? false)),
  });
  servers.set(maxPayload, server);
  return server;
}

/** Whether a request asks for a WebSocket. */
export function isHandshake({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

export class UpgradeExchange extends Exchange implements PendingExchange, SocketOffer {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly connection: Connection;
  readonly #rest: Buffer;
  readonly #joinsHeaders: boolean;
  #isTaken = false;

  /** `rest` is what has been read after the head. */
  constructor(request: IncomingMessage, rest: Buffer, connection: Connection, requestId: string, joinsHeaders: boolean) {
    super(requestId, headOf(request));
    this.request = request;
    this.socket = connection.socket;
    this.connection = connection;
    this.#rest = rest;
    this.#joinsHeaders = joinsHeaders;
    this.offer = this;
    this.socket.on('error', () => this.socket.destroy());
  }

  /** For the time limit of writing: what the client has not taken yet. */
  get response(): { readonly writableLength: number } {
    return this.socket;
  }

  checkHead(): void {
    checkHead(this.request, this.#joinsHeaders);
  }

  referAddress(admission: Admission): Share {
    return admission.referAgain(this.connection.share);
  }

  async accept(maxPayload: number): Promise<MessageSocket> {
    const { request, socket } = this;
    const { 'sec-websocket-key': key, 'sec-websocket-version': version } = this.headers;
    // `ws` would answer these by itself.
    if (version !== '13' || key === undefined || !/^[+/0-9A-Za-z]{22}==$/.test(key))
      throw new ApiError('BAD_REQUEST', 'The request is not a handshake of version 13 of the WebSocket protocol.');
    const server = await serverFor(maxPayload);
    if (!socket.writable || !socket.readable) throw new ApiError('CANCELLED', 'The client disconnected.');
    this.#isTaken = true;
    return new Promise((resolve) => {
      server.handleUpgrade(request, socket, this.#rest, (webSocket) => resolve(new NodeSocket(webSocket, this)));
    });
  }

  respond(status: number, headers: string[], body: ResponseBody | null): void {
    const { socket } = this;
    if (this.#isTaken || !socket.writable) return;
    const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`, 'connection: close'];
    for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
    socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), ...(body?.chunks ?? [])]));
    this.connection.endAtTakeover(() => {});
    this.close();
  }

  /** The socket has closed, or the client got its refusal. */
  close(): void {
    this.finish();
    this.connection.end(this);
  }

  beginStream(): ResponseStream {
    throw new Error('A WebSocket has no response.');
  }

  readBody(): Promise<Buffer> {
    return Promise.reject(new ApiError('BAD_REQUEST', 'A handshake has no body.'));
  }

  destroy(): void {
    this.socket.destroy();
  }

  failBody(): void {}

  writeOn(): void {}
}

/** A socket of `ws`. */
class NodeSocket implements MessageSocket {
  readonly #socket: WebSocket;
  readonly #exchange: UpgradeExchange;
  readonly #queue = new PartQueue<Uint8Array>((fragment, isLast, onTaken) => {
    if (this.#socket.readyState !== this.#socket.OPEN) return false;
    const { connection } = this.#exchange;
    this.#socket.send(fragment, { binary: false, fin: isLast }, () => {
      connection.noteWritten(this.#exchange);
      onTaken();
    });
    connection.noteWritten(this.#exchange);
    return true;
  });

  constructor(socket: WebSocket, exchange: UpgradeExchange) {
    this.#socket = socket;
    this.#exchange = exchange;
    // What is wrong with a frame closes the socket, with a code that says so.
    socket.on('error', () => {});
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  listen(listener: SocketListener): void {
    const socket = this.#socket;
    socket.on('message', (data: Buffer, isBinary) => listener.message(data, isBinary));
    socket.on('pong', () => listener.alive());
    socket.on('ping', () => listener.alive());
    socket.on('close', () => {
      this.#exchange.close();
      listener.gone();
    });
    if (socket.readyState === socket.CLOSED) listener.gone();
  }

  /** In fragments if it is long: its pieces are shared with other sockets, and a slow client has time for each. */
  send(pieces: readonly Uint8Array[], onSent: () => void): void {
    this.#queue.add(cutParts(pieces).flat(), onSent);
  }

  ping(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
