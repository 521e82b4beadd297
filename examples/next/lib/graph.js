import { createRowgraph } from 'rowgraph';

/** One for all requests of the process: Next may load a module more than once in development. */
export function openGraph() {
  globalThis.rowgraph ??= createRowgraph({ database: process.env.DATABASE_URL });
  return globalThis.rowgraph;
}
