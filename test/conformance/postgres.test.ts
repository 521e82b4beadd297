/** The vectors on PostgreSQL, through the library, with pg_graphql's schema: nothing may be added to it. */
import { openReference } from './endpoint.ts';
import { testCases } from './test-cases.ts';

testCases('conformance on PostgreSQL', { kind: 'postgres', openEndpoint: openReference });
