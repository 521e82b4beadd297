/** The vectors on PGlite, through the library. */
import { openLibrary } from './endpoint.ts';
import { testCases } from './test-cases.ts';

testCases('conformance on PGlite', { kind: 'pglite', openEndpoint: openLibrary });
