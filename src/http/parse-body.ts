/** Parses the body of a request as JSON. In: content type and bytes; out: a value, which `request-parameters.ts` turns into a request. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Deadline } from '../budget/deadline.ts';
import { runInSlices } from '../budget/turns.ts';
import { ApiError } from '../errors/api-error.ts';
import { longestAtOnce, parseJson } from './parse-json.ts';

/** Throws UNSUPPORTED_MEDIA_TYPE unless the headers declare an unencoded JSON body in UTF-8. */
export function checkContentType(headers: IncomingHttpHeaders): void {
  const contentType = headers['content-type'];
  if (contentType !== 'application/json' && !isJson(contentType ?? '')) {
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Unsupported media type. Send JSON in UTF-8 with the header Content-Type: application/json.',
    );
  }
  const contentEncoding = headers['content-encoding'];
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Compressed request bodies are not supported. Send the body without Content-Encoding.');
  }
}

function isJson(contentType: string): boolean {
  const [mediaType, ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  return (
    mediaType === 'application/json' &&
    parameters.every((parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter))
  );
}

/**
 * The value of a body; a promise if the body is long. Throws or rejects with BAD_REQUEST or TOO_DEEP; a promise also with TIMEOUT or
 * CANCELLED.
 */
export function parseBody(body: Buffer, deadline: Deadline): unknown {
  if (body.length === 0) throw badRequest('The body is empty. Send a JSON object with the member "query".');
  if (!isUtf8(body)) throw badRequest('The body is not valid UTF-8.');
  const text = body.toString('utf8', hasByteOrderMark(body) ? 3 : 0);
  if (text.length > longestAtOnce) return runInSlices(parseJson(text), deadline).catch((error: unknown) => Promise.reject(explain(error)));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw explain(error);
  }
}

function explain(error: unknown): unknown {
  return error instanceof SyntaxError ? new ApiError('BAD_REQUEST', 'The body is not valid JSON.', { cause: error }) : error;
}

/** JSON has no byte order mark, but a parser may ignore one (RFC 8259, section 8.1). */
function hasByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message);
}
