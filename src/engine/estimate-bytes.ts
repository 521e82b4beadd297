/** About how much memory the schema of a set of privileges takes, with its documents. Measured with Node 24; `npm run bench:large` shows what comes of it. */
import type { Model } from '../model/model.ts';
import type { TextCache } from '../text-cache.ts';
import type { CachedDocument } from './role-schema.ts';

const bytesOfTable = 4000;
const bytesOfColumn = 300;
/** A character of a document, once it is parsed. */
const bytesOfCharacter = 40;

/** The bytes of a schema. */
export function estimateBytes({ tables }: Model, documents: Pick<TextCache<CachedDocument>, 'characters' | 'values'>): number {
  const columns = tables.reduce((count, table) => count + table.columns.length, 0);
  let bytes = bytesOfTable * tables.length + bytesOfColumn * columns + bytesOfCharacter * documents.characters;
  for (const { compiled } of documents.values()) bytes += compiled.calculatedSize;
  return bytes;
}
