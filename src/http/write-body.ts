/**
 * Writes the body of a response: at once if it is short, otherwise in parts, each when the client has read the one before. In: a response
 * whose head is set, and the body; out: bytes on the socket.
 *
 * Relies on Node beyond its documentation: it writes head and body at once if both are text (`test/contracts/node.test.ts`).
 */
import type { ServerResponse } from 'node:http';
import type { ResponseBody } from '../engine/run/response.ts';

/** In bytes. For larger texts the copies cost more than writing a second piece. */
const longestText = 16 * 1024;
/** In bytes. */
export const partLength = 1024 * 1024;

/** Learns how far the client has read. */
interface PartListener {
  notePart(): void;
}

/**
 * Writes head and body. A short body is written as latin1 text, which keeps every byte as it is, together with the head: that saves an
 * eighth of a small request's CPU. `listener` is told of each part of a long body, as soon as it is with the socket.
 */
export function writeBody(response: ServerResponse, body: ResponseBody, listener: PartListener): void {
  const text = body.latin1 ?? shortText(body);
  if (text !== undefined) response.end(text, 'latin1');
  else if (body.length <= partLength) writeLast(response, body.chunks);
  else writeInParts(response, cutParts(body.chunks), listener);
}

function shortText({ chunks, length }: ResponseBody): string | undefined {
  if (chunks.length !== 1 || length >= longestText) return undefined;
  const { buffer, byteOffset, byteLength } = chunks[0]!;
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

function writeLast(response: ServerResponse, chunks: readonly Uint8Array[]): void {
  const last = chunks.length - 1;
  if (last > 0) response.cork();
  for (const chunk of chunks.slice(0, last)) response.write(chunk);
  response.end(chunks[last]);
}

/** Returns whether the socket takes more at once. */
function writePart(response: ServerResponse, chunks: readonly Uint8Array[]): boolean {
  let takesMore = true;
  response.cork();
  for (const chunk of chunks) takesMore = response.write(chunk);
  response.uncork();
  return takesMore;
}

function writeInParts(response: ServerResponse, parts: Generator<readonly Uint8Array[], undefined>, listener: PartListener): void {
  let next = parts.next();
  const writeOn = (): void => {
    let takesMore = true;
    while (takesMore && !next.done) {
      const part = next.value;
      next = parts.next();
      if (next.done) writeLast(response, part);
      else takesMore = writePart(response, part);
      listener.notePart();
    }
  };
  response.on('drain', writeOn);
  writeOn();
}

function* cutParts(chunks: readonly Uint8Array[]): Generator<readonly Uint8Array[], undefined> {
  let part: Uint8Array[] = [];
  let room = partLength;
  for (const chunk of chunks) {
    let start = 0;
    while (chunk.length - start > room) {
      part.push(chunk.subarray(start, start + room));
      yield part;
      start += room;
      part = [];
      room = partLength;
    }
    part.push(chunk.subarray(start));
    room -= chunk.length - start;
  }
  yield part;
}
