/**
 * The vectors on PGlite, through the library, with all additions: introspection may have more than they. Then those of the additions.
 * `npm run test:matrix -- pglite` runs it.
 */
import path from 'node:path';
import { openLibrary } from './endpoint.ts';
import { readCases } from './read-cases.ts';
import { testCases } from './test-cases.ts';

const additions = readCases('', path.join(import.meta.dirname, '../additions'));

testCases('conformance on PGlite', { kind: 'pglite', openEndpoint: openLibrary, hasAdditions: true });
testCases('additions on PGlite', { kind: 'pglite', openEndpoint: openLibrary, cases: additions });
