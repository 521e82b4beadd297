/** Reports the documents that only lenient coercion accepts: each once, however often it is parsed. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Observer } from '../events.ts';
import type { Document } from '../request/parse-document.ts';

/** Takes such a document with its text. */
export type NoteMismatches = (query: string, document: Document) => void;

/** How many documents are remembered, by their hash. */
const mostRemembered = 10_000;

/** One for all schemas of a graph: a reload of the schema parses documents again. */
export function createMismatchReport(observe: Observer): NoteMismatches {
  const reported = new LRUCache<string, true>({ max: mostRemembered });
  return (query, { operations, mismatches }) => {
    const hash = createHash('sha256').update(query).digest('hex');
    if (reported.has(hash)) return;
    reported.set(hash, true);
    observe({ kind: 'document-mismatched', hash, operations: operations.map(({ name }) => name ?? null), mismatches });
  };
}
