/**
 * What Node hands over as a bare socket: input that its parser rejects, CONNECT and Upgrade. There is no response to write to in these
 * cases.
 *
 * Relies on the error codes of Node's parser, not all of which are documented (`test/contracts/node.test.ts`).
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../../errors/api-error.ts';
import { errorCodes } from '../../errors/codes.ts';
import { encodeError } from '../endpoint/error-response.ts';
import { hasTooManyHeaders, mostHeaders, versionError } from './check-head.ts';
import type { Connections } from './connections.ts';

interface Refusal {
  readonly statusLine: string;
  readonly error: ApiError;
}

/** Opens a WebSocket for a request, unless it is for something else. `rest` is what has been read after the headers. */
export type TakeUpgrade = (request: IncomingMessage, rest: Buffer) => boolean;

/** Handles the bare sockets of a server. */
export function handleBareSockets(server: Server, connections: Connections, nextRequestId: () => string, takeUpgrade: TakeUpgrade): void {
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const refusal = explain(error.code);
    connections.of(socket).fail(refusal.error, () => writeRefusal(socket, refusal, nextRequestId()));
  });
  server.on('connect', (_request, stream) => {
    const socket = stream as Socket;
    connections.of(socket).endAtTakeover(() => writeRefusal(socket, tunnel, nextRequestId()));
  });
  server.on('upgrade', (request, stream, rest) => {
    const socket = stream as Socket;
    const connection = connections.of(socket);
    if (hasTooManyHeaders(request)) connection.endAtTakeover(() => writeRefusal(socket, tooManyHeaders, nextRequestId()));
    else if (connection.isIdle) {
      if (!takeUpgrade(request, rest)) ignoreUpgrade(server, socket, request, rest);
    } else {
      connection.endAfterLatest();
      connection.endAtTakeover(() => {});
    }
  });
}

/**
 * Serves a request that asks for another protocol as any other (RFC 9110, section 7.8): puts it back at the start of the connection's
 * input, without its Upgrade header, and lets the server begin anew. Node can do so by itself, but loses what follows the request in the
 * same packet. `rest` is what has been read after the headers.
 */
function ignoreUpgrade(server: Server, socket: Socket, request: IncomingMessage, rest: Buffer): void {
  // It may be the idle time after the last response.
  socket.setTimeout(0);
  if (rest.length > 0) socket.unshift(rest);
  socket.unshift(writeHead(request));
  server.emit('connection', socket);
  socket.resume();
}

/** Never longer than what was received, so that it is not too large. */
function writeHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}:${rawHeaders[index + 1]}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const tunnel: Refusal = {
  statusLine: '405 Method Not Allowed',
  error: new ApiError('METHOD_NOT_ALLOWED', 'CONNECT is not supported: this server is not a proxy.'),
};

const tooManyHeaders: Refusal = {
  statusLine: '431 Request Header Fields Too Large',
  error: new ApiError(
    'BAD_REQUEST',
    `The URL and the headers of the request are too large. Send at most 16 KB in at most ${mostHeaders} headers, and a long GraphQL request as the body of a POST request.`,
  ),
};

function explain(code: string | undefined): Refusal {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const error = new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time. Send its headers and body without pauses.');
      return { statusLine: `${errorCodes.REQUEST_TIMEOUT.status} Request Timeout`, error };
    }
    case 'HPE_HEADER_OVERFLOW':
      return tooManyHeaders;
    case 'HPE_INVALID_VERSION':
    // HTTP/2 without an upgrade.
    case 'HPE_PAUSED_H2_UPGRADE':
      return { statusLine: `${errorCodes.HTTP_VERSION_NOT_SUPPORTED.status} HTTP Version Not Supported`, error: versionError() };
    default: {
      const message = 'The request is not a complete HTTP/1.1 request. Check its headers and the length of its body.';
      return { statusLine: '400 Bad Request', error: new ApiError('BAD_REQUEST', message) };
    }
  }
}

function writeRefusal(socket: Socket, { statusLine, error }: Refusal, requestId: string): void {
  const body = encodeError(error);
  const head = [
    `HTTP/1.1 ${statusLine}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${body.length}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  if (error.code === 'METHOD_NOT_ALLOWED') head.push('allow: GET, HEAD, POST, OPTIONS');
  socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
}
