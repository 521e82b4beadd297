/**
 * A `pg` pool that records the texts of all statements sent over its connections, as PostgreSQL receives them. Bound values are not part of
 * a text.
 */
import { Socket } from 'node:net';
import { Pool } from 'pg';

export interface RecordedPool {
  readonly pool: Pool;
  /** Every text that was sent to be parsed, in order. */
  readonly texts: readonly string[];
}

/** Opens a pool. The caller ends it. */
export function openRecordedPool(connectionString: string, max: number): RecordedPool {
  const texts: string[] = [];
  const stream = (): Socket => new RecordedSocket((bytes) => texts.push(...readTexts(bytes)));
  const pool = new Pool({ connectionString, max, stream } as ConstructorParameters<typeof Pool>[0]);
  pool.on('error', () => {});
  return { pool, texts };
}

type Callback = (error?: Error | null) => void;

/** `connect` resets a socket's `write` method, so the methods below it do the recording. */
class RecordedSocket extends Socket {
  readonly #record: (bytes: Buffer) => void;

  constructor(record: (bytes: Buffer) => void) {
    super();
    this.#record = record;
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: Callback): void {
    this.#record(chunk);
    super._write(chunk, encoding, callback);
  }

  override _writev(chunks: { chunk: Buffer; encoding: BufferEncoding }[], callback: Callback): void {
    for (const { chunk } of chunks) this.#record(chunk);
    super._writev?.(chunks, callback);
  }
}

/** The texts of the messages Parse and Query (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
function readTexts(bytes: Buffer): string[] {
  const texts: string[] = [];
  // The startup message has no type byte.
  for (let start = bytes[0] === 0 ? bytes.length : 0; start < bytes.length; ) {
    const end = start + 1 + bytes.readInt32BE(start + 1);
    const type = String.fromCharCode(bytes[start]!);
    const strings = bytes
      .subarray(start + 5, end)
      .toString()
      .split('\0');
    if (type === 'P') texts.push(strings[1]!);
    if (type === 'Q') texts.push(strings[0]!);
    start = end;
  }
  return texts;
}
