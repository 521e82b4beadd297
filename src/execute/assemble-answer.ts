/**
 * Puts an answer together: the values as PostgreSQL built them, under the keys and in the order of the request. Nothing of them is read.
 */
import type { Field } from '../database/database.ts';

/** A member of `data` and its JSON. */
export interface AnsweredRoot {
  readonly key: string;
  readonly json: Field;
}

/** The response as UTF-8. */
export function assembleAnswer(roots: readonly AnsweredRoot[]): Buffer {
  const pieces: (string | Uint8Array)[] = [];
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
  return joinPieces(pieces);
}

/** One allocation and one copy of each piece. */
function joinPieces(pieces: readonly (string | Uint8Array)[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  const joined = Buffer.allocUnsafe(length);
  let offset = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') offset += joined.write(piece, offset);
    else {
      joined.set(piece, offset);
      offset += piece.length;
    }
  }
  return joined;
}
