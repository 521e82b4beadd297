/**
 * Reads the body of a `Request`, as `read-body.ts` does for Node's requests: up to a limit, within its deadline, and as long as there is
 * room. In: the exchange; out: the bytes.
 */
import { ApiError } from '../errors/api-error.ts';
import type { FetchExchange } from './fetch-exchange.ts';
import { explainMissingBody, tooLarge } from './read-body.ts';

/**
 * The bytes of a body. Rejects with PAYLOAD_TOO_LARGE; with OVERLOADED if the server already holds too many bytes; with REQUEST_TIMEOUT at
 * the deadline; with CANCELLED if the client disconnects; and with BAD_REQUEST if the body is broken.
 */
export async function readWebBody(exchange: FetchExchange, limit: number): Promise<Buffer> {
  const { request, deadline } = exchange;
  if (request.bodyUsed || request.body?.locked) throw new ApiError('INTERNAL_ERROR', alreadyRead);
  if (request.body === null) return Buffer.alloc(0);
  const reader = request.body.getReader();
  // Whatever ends the wait also cancels the stream, so that nobody goes on sending what nobody reads.
  const cancel = (): void => void reader.cancel().catch(() => {});
  const stopped = new Promise<never>((_resolve, reject) => {
    if (Number(exchange.headers['content-length'] ?? 0) > limit) reject(tooLarge(limit));
    deadline?.onStop((reason) => reject(explainMissingBody(reason)));
  });
  try {
    return await Promise.race([stopped, readChunks(exchange, reader, limit)]);
  } catch (error) {
    cancel();
    throw error;
  } finally {
    deadline?.onStop(null);
  }
}

async function readChunks(exchange: FetchExchange, reader: ReadableStreamDefaultReader<Uint8Array>, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw broken(error);
    });
    if (done) return Buffer.concat(chunks, size);
    // A stream that a program has made may yield anything.
    if (!(value instanceof Uint8Array)) throw broken(value);
    size += value.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(value);
    exchange.hold(value.length);
    const refusal = exchange.refuseBytes();
    if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
  }
}

function broken(cause: unknown): ApiError {
  return new ApiError('BAD_REQUEST', 'The body could not be read to its end as bytes.', { cause });
}

const alreadyRead =
  'The body was read before rowgraph got the request. Mount rowgraph ahead of what reads the body, or let that read request.clone().';
