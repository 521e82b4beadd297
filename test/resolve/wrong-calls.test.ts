/** What TypeScript forbids and JavaScript passes all the same: each call of the library says what is wrong with it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { type Caller, createRowgraph, type GraphQLRequest, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';

const badRequests: readonly unknown[] = [
  ...[undefined, null, 3, 'query', [], [{ query: '{ __typename }' }], {}, { query: 3 }, { query: null }, { query: ['{ __typename }'] }],
  ...['x', 3, [], true].map((variables) => ({ query: '{ __typename }', variables })),
  ...[3, {}, []].map((operationName) => ({ query: '{ __typename }', operationName })),
  { query: '{ __typename }', extensions: 'x' },
];
const wrongCallers: readonly unknown[] = [
  ...[undefined, null, 'anon', ['anon'], {}, { role: undefined }, { role: 3 }, { role: '' }],
  ...[null, 'x', []].map((claims) => ({ role: 'anon', claims })),
];

describe('calls that the types forbid', () => {
  let database: PGlite;
  let graph: Rowgraph;
  const defects: unknown[] = [];

  before(async () => {
    database = await startPglite();
    await database.exec(rolesSql + grantsSql);
    graph = await createRowgraph({ database, observe: (event) => event.kind === 'defect-found' && defects.push(event.error) });
  });
  after(async () => {
    await graph.close();
    await database.close();
  });

  it('refuses what is not a request', async () => {
    for (const request of badRequests as GraphQLRequest[]) {
      for (const { errors, data } of [await graph.execute(request, { role: 'anon' }), await graph.resolve(database, request)]) {
        assert.equal(errors?.[0]?.extensions.code, 'BAD_REQUEST', JSON.stringify(request));
        assert.match(errors?.[0]?.message ?? '', /must be|has no member "query"/);
        assert.equal(data, undefined);
      }
      const { errorCode } = await graph.executeRaw(request, { role: 'anon' });
      assert.equal(errorCode, 'BAD_REQUEST');
      await assert.rejects(graph.explain(request, { role: 'anon' }), { code: 'BAD_REQUEST' });
    }
  });

  it('throws where the caller is wrong', async () => {
    const request = { query: '{ __typename }' };
    for (const caller of wrongCallers as Caller[]) {
      for (const call of [graph.execute(request, caller), graph.executeRaw(request, caller), graph.explain(request, caller)]) {
        await assert.rejects(call, (error) => error instanceof TypeError && /caller/.test(error.message), JSON.stringify(caller));
      }
    }
    await assert.rejects(graph.resolve(undefined as never, request), TypeError);
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const claims of [circular, { big: 1n }]) {
      await assert.rejects(graph.execute(request, { role: 'anon', claims }), { name: 'TypeError', message: /^The claims of the caller/ });
    }
  });

  it('calls none of it a defect', () => assert.deepEqual(defects, []));
});
