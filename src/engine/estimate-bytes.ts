/**
 * About how much memory the schema of a set of privileges takes, and its documents. Of the types of 300 tables with 12 columns each, 1.8 MB were measured with
 * Node 24; they count for half as much again, as those that were evicted remain in memory until V8 collects them. `npm run bench:large` shows what comes of it.
 */
import type { Model } from '../model/model.ts';
import type { TextCache } from '../text-cache.ts';
import type { CachedDocument } from './role-schema.ts';

const bytesOfTable = 6000;
const bytesOfColumn = 300;
/** Of the caches of a set of privileges, while they are empty. */
const bytesOfCaches = 5000;
/** A character of a document, once it is parsed. */
const bytesOfCharacter = 40;

/** The bytes of a model with the GraphQL types over it. */
export function estimateTypes({ tables }: Model): number {
  const columns = tables.reduce((count, table) => count + table.columns.length, 0);
  return bytesOfTable * tables.length + bytesOfColumn * columns;
}

/** The bytes of documents, with what was compiled of them. */
export function estimateDocuments(documents: Pick<TextCache<CachedDocument>, 'characters' | 'values'>): number {
  let bytes = bytesOfCaches + bytesOfCharacter * documents.characters;
  for (const { compiled } of documents.values()) bytes += compiled.calculatedSize;
  return bytes;
}
