/** The head of a request of `node:http`, and what every request must satisfy, whatever its path. */
import type { IncomingMessage } from 'node:http';
import { ApiError, quote } from '../../errors/api-error.ts';
import { peerAddress } from '../admission/client-address.ts';
import type { ReceivedHead } from '../endpoint/exchange.ts';

export function headOf({ method = '', url = '', headers, socket }: IncomingMessage): ReceivedHead {
  return { method, url, headers, remoteAddress: peerAddress(socket) };
}

/** If one of these is repeated, a proxy in front of rowgraph may use a different value than rowgraph does. */
const onlyOnce: readonly string[] = ['host', 'apikey', 'content-type', 'authorization'];

/** The most headers of a request to our own server: each takes 0.3 µs, and a head of 16 KB can have 4,000. */
export const mostHeaders = 200;

/** Whether Node has dropped headers of a request to our own server, as versions before 24.21 do, because there were too many. */
export function hasTooManyHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  return rawHeaders.length > 2 * mostHeaders;
}

/** The error of a request in a version of HTTP other than 1.1 and 1.0. */
export function versionError(): ApiError {
  return new ApiError('HTTP_VERSION_NOT_SUPPORTED', 'This version of HTTP is not supported. Send the request in HTTP/1.1.');
}

/**
 * Throws BAD_REQUEST if the Host header is missing, or a header that must be unique is repeated, or our own server got too many headers;
 * and the errors of another version of HTTP and of a transfer coding. `areJoined`: whether it is ours, so that Node has joined repeated
 * headers with commas (`joinDuplicateHeaders`).
 */
export function checkHead(request: IncomingMessage, areJoined: boolean): void {
  const { httpVersion, headers, rawHeaders } = request;
  // Elsewhere it may be a request in HTTP/2 indeed.
  if (areJoined && httpVersion !== '1.1' && httpVersion !== '1.0') throw versionError();
  if (areJoined && hasTooManyHeaders(request))
    throw new ApiError('BAD_REQUEST', `The request has more than ${mostHeaders} headers. Send fewer.`);
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new ApiError('BAD_REQUEST', 'The Host header is missing. HTTP/1.1 requires it.');
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) checkCoding(coding, httpVersion);
  if (areJoined && !onlyOnce.some((name) => headers[name]?.includes(','))) return;
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  const lower = names.map((name) => name.toLowerCase());
  const repeated = names.find((_, index) => onlyOnce.includes(lower[index]!) && lower.indexOf(lower[index]!) < index);
  if (repeated !== undefined) throw new ApiError('BAD_REQUEST', `The ${repeated} header was sent more than once. Send it once.`);
}

/**
 * RFC 9112, section 6.1. Node decodes only the chunks; a body that is also compressed would be read as it is. The parser refuses one whose
 * last coding is not chunked.
 */
function checkCoding(coding: string, httpVersion: string): void {
  if (httpVersion === '1.0') throw new ApiError('BAD_REQUEST', 'HTTP/1.0 has no Transfer-Encoding. Send the body with a Content-Length.');
  if (/,[ \t]*chunked[ \t]*$/i.test(coding))
    throw new ApiError(
      'TRANSFER_CODING_NOT_SUPPORTED',
      `The transfer coding ${quote(coding)} is not supported. Send the body as it is, with a Content-Length or chunked.`,
    );
}
