/** Reads the body of a request: up to a limit, within its deadline, and as long as there is room. In: the exchange; out: the bytes. */
import type { IncomingMessage } from 'node:http';
import type { StopReason } from '../budget/deadline.ts';
import { ApiError } from '../errors.ts';
import type { Exchange } from './exchange.ts';

/** How much of an oversized body is still read, so that a client that writes everything before it reads gets to see the response. */
const drainLimit = 16 * 1024 * 1024;

/**
 * The bytes of a body. Rejects with PAYLOAD_TOO_LARGE, with OVERLOADED if the server already holds too much, with REQUEST_TIMEOUT at the deadline, with
 * CANCELLED if the client disconnects, and with BAD_REQUEST if the body is broken.
 */
export function readBody(exchange: Exchange, limit: number): Promise<Buffer> {
  const { request } = exchange;
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    drain(request, 0);
    return Promise.reject(tooLarge(limit));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (): void => {
      exchange.deadline?.onStop(null);
      exchange.onBrokenBody = null;
    };
    const fail = (error: ApiError): void => {
      request.off('data', onData);
      stop();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      exchange.hold(chunk.length);
      const refusal = exchange.refuseBytes();
      if (size <= limit && refusal === null) return;
      fail(refusal === null ? tooLarge(limit) : new ApiError('OVERLOADED', refusal));
      drain(request, size);
    };
    request.on('data', onData);
    request.on('end', () => {
      stop();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    });
    exchange.onBrokenBody = fail;
    exchange.deadline?.onStop((reason) => fail(explainStop(reason)));
    // The error may have occurred while the tokens were being verified.
    const { failure } = exchange.connection;
    if (failure !== null && !request.complete) fail(failure);
  });
}

function explainStop(reason: StopReason): ApiError {
  return reason === 'abandoned'
    ? new ApiError('CANCELLED', 'The client disconnected before it had sent the whole body.')
    : new ApiError('REQUEST_TIMEOUT', 'The body did not arrive in time. Send it without pauses.');
}

function drain(request: IncomingMessage, alreadyRead: number): void {
  let size = alreadyRead;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > drainLimit) request.destroy();
  });
}

function tooLarge(limit: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes. Send a smaller body, or raise the server's limit.`);
}
