/** Reads the body of a request up to a limit. In: the request; out: its bytes. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

/** What is still read of a body that is too large, so that a client which writes all before it reads gets to see the answer. */
const drainLimit = 16 * 1024 * 1024;

/** The bytes of a body. Rejects with PAYLOAD_TOO_LARGE or, where the connection ends before the body does, with BAD_REQUEST. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      drain(request, 0);
      reject(tooLarge(limit));
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= limit) return;
      request.off('data', onData);
      drain(request, size);
      reject(tooLarge(limit));
    };
    request.on('data', onData);
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)));
    const onClose = (): void => {
      if (!request.complete) reject(new ApiError('BAD_REQUEST', 'The connection ended before the body did.'));
    };
    // It may have ended while the tokens were looked at; then no event comes any more.
    if (request.destroyed) onClose();
    else request.on('close', onClose);
  });
}

function drain(request: IncomingMessage, alreadyRead: number): void {
  let size = alreadyRead;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > drainLimit) request.destroy();
  });
}

function tooLarge(limit: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes: send less, or raise the limit of this server.`);
}
