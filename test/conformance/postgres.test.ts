/** The vectors on PostgreSQL, through the library. */
import { openLibrary } from './endpoint.ts';
import { testCases } from './test-cases.ts';

testCases('conformance on PostgreSQL', { kind: 'postgres', openEndpoint: openLibrary });
