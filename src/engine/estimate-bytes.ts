/**
 * About how much memory the schema of a set of privileges takes, and its documents. Measured with Node 24 over tables of 12 columns: 290 bytes for a table that
 * nobody has read, 4.2 KB for one that is filled in, 3.7 KB for a GraphQL type with its fields. They count for half as much again, as those that were
 * evicted remain in memory until V8 collects them. `npm run bench:large` shows what comes of it.
 */
import type { TextCache } from '../text-cache.ts';
import type { CachedDocument, SchemaTypes } from './role-schema.ts';

/** Of a table or function, of a table that is filled in, and of a GraphQL type. */
const bytesOfTable = 450;
const bytesOfBuiltTable = 6000;
const bytesOfType = 5500;
/** Of the caches of a set of privileges, while they are empty. */
const bytesOfCaches = 5000;
/** A character of a document, once it is parsed. */
const bytesOfCharacter = 40;

/** The bytes of a model with the GraphQL types over it, as far as they are built. */
export function estimateTypes({ model, schema }: SchemaTypes): number {
  const ofModel = bytesOfTable * (model.tables.length + model.routines.length) + bytesOfBuiltTable * model.countBuilt();
  return ofModel + bytesOfType * schema.countBuilt();
}

/** The bytes of documents, with what was compiled of them. */
export function estimateDocuments(documents: Pick<TextCache<CachedDocument>, 'characters' | 'values'>): number {
  let bytes = bytesOfCaches + bytesOfCharacter * documents.characters;
  for (const { compiled } of documents.values()) bytes += compiled.calculatedSize;
  return bytes;
}
