/**
 * The body of a large response as a stream; its reader sets the pace. In: the bytes, in pieces; out: a `ReadableStream`, and a callback
 * when it ends. A reader that stops reading does not keep the bytes for ever.
 */
import { startTimer } from '../budget/deadline.ts';

/** In bytes: how much is handed over at a time. */
const pieceLength = 64 * 1024;
const bytesPerTimeout = 1024 * 1024;

/**
 * A stream of the chunks. `onEnd` is called once: with true when the last byte was read; with false when the reader cancelled, or read less
 * than 1 MiB in `timeout` milliseconds.
 */
export function streamBody(
  chunks: readonly Uint8Array[],
  timeout: number,
  onEnd: (isComplete: boolean) => void,
): ReadableStream<Uint8Array> {
  const pieces = cutPieces(chunks);
  let timer: NodeJS.Timeout | undefined;
  let sinceTimer = 0;
  const restartTimer = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    clearTimeout(timer);
    sinceTimer = 0;
    timer = startTimer(() => {
      controller.error(new Error('The response was not read in time.'));
      onEnd(false);
    }, timeout);
  };
  return new ReadableStream<Uint8Array>({
    start: restartTimer,
    pull(controller) {
      const { value, done } = pieces.next();
      if (done) {
        clearTimeout(timer);
        controller.close();
        onEnd(true);
        return;
      }
      controller.enqueue(value);
      sinceTimer += value.length;
      if (sinceTimer >= bytesPerTimeout) restartTimer(controller);
    },
    cancel() {
      clearTimeout(timer);
      onEnd(false);
    },
  });
}

function* cutPieces(chunks: readonly Uint8Array[]): Generator<Uint8Array, undefined> {
  for (const chunk of chunks)
    for (let start = 0; start < chunk.length; start += pieceLength) yield chunk.subarray(start, start + pieceLength);
}
