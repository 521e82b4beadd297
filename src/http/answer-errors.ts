/**
 * Answers everything that goes wrong outside the endpoint's own handler in the GraphQL response format: unknown paths, wrong methods,
 * broken HTTP, and defects. In: the error or the request; out: an answer that says what to do and never how the server is built.
 */
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, errorCodes } from '../errors.ts';
import type { Observer } from '../events.ts';
import { encodeError, headersOfError } from './error-answer.ts';

/** Answers what a route or fastify itself throws. */
export function createErrorHandler(observe: Observer): (error: Error, request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  return (error, request, reply) => {
    if (error instanceof ApiError) return sendError(reply, error);
    const { statusCode } = error as Partial<FastifyError>;
    if (statusCode !== undefined && statusCode < 500) return sendError(reply, new ApiError('BAD_REQUEST', error.message));
    observe({ kind: 'defect-found', requestId: request.id, error });
    return sendError(reply, new ApiError('INTERNAL_ERROR', 'Internal error. The log of the server has more.'));
  };
}

/** Answers requests that no route takes. */
export function createNotFoundHandler(endpointPath: string): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  return (request, reply) => sendError(reply, explainNotFound(request.url, endpointPath));
}

function explainNotFound(url: string, endpointPath: string): ApiError {
  const path = url.split('?', 1)[0];
  if (path === endpointPath)
    return new ApiError('METHOD_NOT_ALLOWED', `Send GraphQL requests to ${endpointPath} with the method POST and a JSON body.`);
  if (path === `${endpointPath}/`) return new ApiError('NOT_FOUND', `The endpoint is ${endpointPath}, without a slash at its end.`);
  return new ApiError('NOT_FOUND', `Nothing is served at this path. The GraphQL endpoint is ${endpointPath}.`);
}

function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  const headers = headersOfError(error.code);
  for (let index = 0; index < headers.length; index += 2) reply.header(headers[index] as string, headers[index + 1]);
  reply.header('content-type', 'application/json; charset=utf-8');
  reply.header('cache-control', 'no-store');
  reply.header('x-content-type-options', 'nosniff');
  return reply.code(errorCodes[error.code].status).send(encodeError(error));
}

const statusLines: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Answers bytes that are no HTTP request, a head that is too large, or a request that does not end in time; then ends the connection. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (socket.writable && error.code !== 'ECONNRESET') {
    const statusLine = statusLines[error.code ?? ''] ?? '400 Bad Request';
    const body = encodeError(new ApiError('BAD_REQUEST', `The HTTP request is not complete and correct (${statusLine}).`));
    const head = `HTTP/1.1 ${statusLine}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
    socket.write(head);
    socket.write(body);
  }
  socket.destroySoon();
}
