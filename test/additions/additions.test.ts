/** The vectors of the additions to pg_graphql's schema, in the format of `test/conformance`: written from what each addition means, and run on PostgreSQL. */

import { openLibrary } from '../conformance/endpoint.ts';
import { readCases } from '../conformance/read-cases.ts';
import { testCases } from '../conformance/test-cases.ts';

testCases('additions on PostgreSQL', { kind: 'postgres', openEndpoint: openLibrary, cases: readCases('', import.meta.dirname) });
