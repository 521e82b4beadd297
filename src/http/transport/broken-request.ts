/**
 * Responds to input that Node's parser rejects: bytes that are not an HTTP request, headers that are too large, a request that does not
 * arrive in time. There is no request to route in these cases, so the response is written directly to the socket.
 *
 * Relies on the error codes of Node's parser, not all of which are documented (`test/contracts/node.test.ts`).
 */
import type { Socket } from 'node:net';
import { ApiError } from '../../errors/api-error.ts';
import { errorCodes } from '../../errors/codes.ts';
import { encodeError } from '../endpoint/error-response.ts';
import { mostHeaders, versionError } from './check-head.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';

/** How long the rest of the input of a bare socket is read, and dropped, after the response. */
const lingerMillis = 2000;

interface Failure {
  readonly statusLine: string;
  readonly error: ApiError;
}

function explain(code: string | undefined): Failure {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const error = new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time. Send its headers and body without pauses.');
    return { statusLine: `${errorCodes.REQUEST_TIMEOUT.status} Request Timeout`, error };
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const error = new ApiError(
      'BAD_REQUEST',
      `The URL and the headers of the request are too large. Send at most 16 KB in at most ${mostHeaders} headers, and a long GraphQL request as the body of a POST request.`,
    );
    return { statusLine: '431 Request Header Fields Too Large', error };
  }
  // The second is HTTP/2 without an upgrade.
  if (code === 'HPE_INVALID_VERSION' || code === 'HPE_PAUSED_H2_UPGRADE')
    return { statusLine: `${errorCodes.HTTP_VERSION_NOT_SUPPORTED.status} HTTP Version Not Supported`, error: versionError() };
  const error = new ApiError(
    'BAD_REQUEST',
    'The request is not a complete HTTP/1.1 request. Check its headers and the length of its body.',
  );
  return { statusLine: '400 Bad Request', error };
}

/** Handles what Node's parser rejects. */
export function createBrokenRequestHandler(
  connections: Connections,
  nextRequestId: () => string,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const failure = explain(error.code);
    connections.of(socket).fail(failure.error, () => writeRefusal(socket, failure, nextRequestId()));
  };
}

/** Rejects a CONNECT request, for which Node hands over the bare socket, after the responses to earlier requests. */
export function refuseTunnel(connection: Connection, nextRequestId: () => string): void {
  const error = new ApiError('METHOD_NOT_ALLOWED', 'CONNECT is not supported: this server is not a proxy.');
  refuse(connection, { statusLine: '405 Method Not Allowed', error }, nextRequestId);
}

/** The same for a request that Node hands over as an Upgrade, with so many headers that some are lost. */
export function refuseHeaders(connection: Connection, nextRequestId: () => string): void {
  refuse(connection, explain('HPE_HEADER_OVERFLOW'), nextRequestId);
}

function refuse(connection: Connection, failure: Failure, nextRequestId: () => string): void {
  const { socket } = connection;
  socket.on('error', () => socket.destroy());
  connection.takeOver(null, () => {
    writeRefusal(socket, failure, nextRequestId());
    socket.end();
    // If the connection closed before all its input was read, TCP would drop what the client has not read yet (RFC 9112, section 9.6).
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), lingerMillis);
    socket.once('close', () => clearTimeout(timer));
  });
}

function writeRefusal(socket: Socket, { statusLine, error }: Failure, requestId: string): void {
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
