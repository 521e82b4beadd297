/**
 * Estimates the memory of a granted schema and its documents. Measured with Node 24 over tables of 12 columns: 290 bytes for a table that
 * nobody has used, 4.2 KB for one that is filled in, 3.7 KB for a GraphQL type with its fields. The constants are half as large again,
 * because evicted schemas remain in memory until V8 collects them. `npm run bench:large` measures the result.
 */
import type { TextCache } from '../text-cache.ts';
import type { CachedDocument, SchemaTypes } from './role-schema.ts';

/** For a table or function, for a table that is filled in, and for a GraphQL type. */
const bytesOfTable = 450;
const bytesOfBuiltTable = 6000;
const bytesOfType = 5500;
/** For the caches of a granted schema while they are empty. */
const bytesOfCaches = 5000;
/** For a character of a document, once it is parsed. */
const bytesOfCharacter = 40;

/** Bytes of a model and its GraphQL types, as far as they have been built. */
export function estimateTypes({ model, schema }: SchemaTypes): number {
  const ofModel = bytesOfTable * (model.tables.length + model.routines.length) + bytesOfBuiltTable * model.countBuilt();
  return ofModel + bytesOfType * schema.countBuilt();
}

/** Bytes of documents and what was compiled from them. */
export function estimateDocuments(documents: Pick<TextCache<CachedDocument>, 'characters' | 'values'>): number {
  let bytes = bytesOfCaches + bytesOfCharacter * documents.characters;
  for (const { compiled } of documents.values()) bytes += compiled.calculatedSize;
  return bytes;
}
