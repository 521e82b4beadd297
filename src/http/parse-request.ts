/**
 * The JSON body of a request as a `GraphQLRequest` (https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters).
 * In: content type and bytes; out: the request with exactly its four members, each of the right type.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Deadline } from '../budget/deadline.ts';
import { runInSlices } from '../budget/slices.ts';
import type { GraphQLRequest } from '../engine/request.ts';
import { ApiError } from '../errors.ts';
import { longestAtOnce, parseJson } from './parse-json.ts';

/** Throws UNSUPPORTED_MEDIA_TYPE unless the headers declare a plain JSON body in UTF-8. */
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

/** The request in a body; a promise if the body is long. Throws or rejects with BAD_REQUEST or TOO_DEEP; a promise also with TIMEOUT or CANCELLED. */
export function parseRequest(body: Buffer, deadline: Deadline): GraphQLRequest | Promise<GraphQLRequest> {
  if (body.length === 0) throw badRequest('The body is empty. Send a JSON object with the member "query".');
  if (!isUtf8(body)) throw badRequest('The body is not valid UTF-8.');
  const text = body.toString('utf8', hasByteOrderMark(body) ? 3 : 0);
  if (text.length > longestAtOnce)
    return runInSlices(parseJson(text), deadline).then(toRequest, (error: unknown) => Promise.reject(explain(error)));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw explain(error);
  }
  return toRequest(value);
}

function explain(error: unknown): unknown {
  return error instanceof SyntaxError ? new ApiError('BAD_REQUEST', 'The body is not valid JSON.', { cause: error }) : error;
}

/** `JSON.parse` makes `__proto__` a plain member of the object, so the members below are the body's own or absent. */
function toRequest(value: unknown): GraphQLRequest {
  if (Array.isArray(value)) throw badRequest('Batched requests are not supported. Send one request at a time.');
  if (typeof value !== 'object' || value === null) throw badRequest('The body must be a JSON object with the member "query".');
  const { query, variables, operationName, extensions } = value as Readonly<Record<string, unknown>>;
  if (typeof query !== 'string') {
    throw badRequest(
      query === undefined
        ? 'The body has no member "query". Send the GraphQL document as a string in "query".'
        : 'The member "query" must be a string.',
    );
  }
  if (!isObjectOrNothing(variables)) throw badRequest('The member "variables" must be an object or null.');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw badRequest('The member "operationName" must be a string or null.');
  }
  if (!isObjectOrNothing(extensions)) throw badRequest('The member "extensions" must be an object or null.');
  return { query, variables, operationName, extensions };
}

/** JSON has no byte order mark, but a parser may ignore one (RFC 8259, section 8.1). */
function hasByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}

function isObjectOrNothing(value: unknown): value is Readonly<Record<string, unknown>> | null | undefined {
  return value === undefined || (typeof value === 'object' && !Array.isArray(value));
}

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message);
}
