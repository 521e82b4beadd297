/**
 * Puts an answer together: the values as PostgreSQL built them, under the keys and in the order of the request. Nothing of them is read.
 */
import type { Field } from '../database/database.ts';

/** A member of `data` and its JSON. */
export interface AnsweredRoot {
  readonly key: string;
  readonly json: Field;
}

/** Bytes in pieces: what is large is not copied to stand in one. */
export interface Body {
  readonly chunks: readonly Buffer[];
  /** Of all chunks together, in bytes. */
  readonly length: number;
}

/** Below this size a copy costs less than another piece to write. */
const joinedLength = 16 * 1024;

/** The response as UTF-8. */
export function assembleAnswer(roots: readonly AnsweredRoot[]): Body {
  const pieces: (string | Buffer)[] = [];
  let text = '{"data":{';
  roots.forEach(({ key, json }, index) => {
    text += index === 0 ? `"${key}":` : `,"${key}":`;
    if (json === null || typeof json === 'string') text += json ?? 'null';
    else {
      pieces.push(text, ...json);
      text = '';
    }
  });
  pieces.push(`${text}}}`);
  return toBody(pieces);
}

/** A text as a body of one piece. */
export function textBody(text: string): Body {
  const bytes = Buffer.from(text);
  return { chunks: [bytes], length: bytes.length };
}

function toBody(pieces: readonly (string | Buffer)[]): Body {
  let length = 0;
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  if (length >= joinedLength) return { chunks: pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)), length };
  const joined = Buffer.allocUnsafe(length);
  let offset = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') offset += joined.write(piece, offset);
    else {
      joined.set(piece, offset);
      offset += piece.length;
    }
  }
  return { chunks: [joined], length };
}
