/** The worst documents, and what becomes of them: a limit's own code, no SQL, and work that is counted rather than timed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { getIntrospectionQuery, parse } from 'graphql';
import { type LimitSettings, limitTable } from '../../src/budget/limits.ts';
import { createRowgraph, type GraphQLRequest, type Rowgraph } from '../../src/index.ts';
import { measureOperations } from '../../src/request/validate/measure-document.ts';
import { startPgliteGraph } from '../support/pglite-graph.ts';
import * as worst from './worst-documents.ts';

type TestGraph = Awaited<ReturnType<typeof startPgliteGraph>>;

describe('documents that are made to harm', () => {
  let test: TestGraph;
  let graph: Rowgraph;
  let batches = 0;

  before(async () => {
    test = await startPgliteGraph(worst.abuseSchema + worst.fullPages);
    // Every statement of a request goes this way, and so does what looks for changes of the schema, which has no claims.
    const { execProtocol } = test.pglite;
    test.pglite.execProtocol = (...passed) => {
      if (Buffer.from(passed[0]).includes('{"role":"')) batches += 1;
      return execProtocol.apply(test.pglite, passed);
    };
    graph = await createRowgraph({ database: test.pglite });
    assert.deepEqual(await send({ query: '{ accountCollection { totalCount } }' }), [null, 1]);
  });

  after(async () => {
    await graph.close();
    await test.stop();
  });

  /** The code of the first error, or null; and how many batches the request took. */
  async function send(
    request: GraphQLRequest,
    asked: Rowgraph = graph,
    role = 'anon',
  ): Promise<readonly [code: string | null, sent: number]> {
    const sent = batches;
    const { errors } = await asked.execute(request, { role });
    return [errors?.[0]?.extensions.code ?? null, batches - sent];
  }

  const refused: readonly (readonly [string, GraphQLRequest, string])[] = [
    ['2^20 selections in fragments', worst.doublingFragments(20), 'TOO_MANY_FIELDS'],
    ['2^14 selections in fragments', worst.doublingFragments(14), 'TOO_MANY_FIELDS'],
    ['2^14 types of introspection', worst.doublingRoots(14), 'TOO_MANY_FIELDS'],
    ['6,000 equal fields', worst.equalFields(6_000), 'TOO_MANY_FIELDS'],
    ['2,000 aliases', worst.aliasedColumns(2_000), 'TOO_MANY_ALIASES'],
    ['190 aliases of 1,300 characters', worst.longAliases(190, 1_300), 'ALIASES_TOO_LONG'],
    ['201 root fields', worst.rootFields(201), 'TOO_MANY_ROOT_FIELDS'],
    ['5,000 root fields', worst.rootFields(5_000), 'TOO_MANY_TOKENS'],
    ['251 relations', worst.fewRelations(250), 'TOO_MANY_SUBQUERIES'],
    ['201 mutations', worst.mutationFields(201), 'TOO_MANY_ROOT_FIELDS'],
    ['relations 49 deep', worst.nestedRelations(49), 'TOO_DEEP'],
    ['2,000 fragments in a chain', worst.chainedFragments(2_000), 'TOO_MANY_FRAGMENTS'],
    ['1,400 inline fragments of one field', worst.overlappingInlineFragments(700), 'TOO_MANY_FRAGMENTS'],
    ['51 operations', worst.manyOperations(51), 'TOO_MANY_OPERATIONS'],
    ['pages of 1000, four deep', worst.pageProduct(1000, 4), 'TOO_MANY_ESTIMATED_ROWS'],
    ['the same by a variable', worst.pageProductByVariable(1000, 4), 'TOO_MANY_ESTIMATED_ROWS'],
    ['1,001 members of a filter', worst.orMembers(1_001), 'TOO_MANY_FILTERS'],
    ['40,000 members of a filter', worst.orMembers(40_000), 'DOCUMENT_TOO_LARGE'],
    ['10,000 members in a variable', worst.orMembersByVariable(10_000), 'TOO_MANY_FILTERS'],
    ['500 members and 501 more', worst.manyVariables(1_001), 'TOO_MANY_FILTERS'],
    ['a filter 2,000 deep', worst.nestedNots(2_000), 'TOO_DEEP'],
    ['a filter 100,000 deep in a variable', worst.nestedNotsByVariable(100_000), 'TOO_DEEP'],
    ['a list 100,000 deep', worst.nestedLists(100_000), 'TOO_DEEP'],
    ['a list 100,000 deep in a variable', worst.nestedListsByVariable(100_000), 'BAD_USER_INPUT'],
    ['21,000 elements', worst.inList(21_000), 'TOO_MANY_TOKENS'],
    ['21,000 elements in a variable', worst.inListByVariable(21_000), 'TOO_MANY_ELEMENTS'],
    ['9,000 elements of three types', worst.mismatchedDefault(9_000), 'TOO_MANY_ELEMENTS'],
    ['21,000 rows', worst.insertedRows(21_000), 'TOO_MANY_ELEMENTS'],
    ['a text of 900 KB in 100 mutations', worst.textInsertedOften(900_000, 100), 'INPUT_TOO_LARGE'],
    ['300,000 values in a nodeId', worst.valuesInNodeId(300_000), 'BAD_USER_INPUT'],
    ['a nodeId 300,000 deep', worst.nestedInNodeId(300_000), 'BAD_USER_INPUT'],
    ['a nodeId 100,000 deep in a filter', worst.filteredNodeId(100_000), 'BAD_USER_INPUT'],
    ['a nodeId 80,000 deep in the document', worst.nodeIdInDocument(80_000), 'BAD_USER_INPUT'],
    ['200,000 values in a cursor', worst.valuesInCursor(200_000), 'BAD_USER_INPUT'],
    ['9,000 values in each of 30 cursors', worst.valuesInCursors(30, 9_000), 'BAD_USER_INPUT'],
    ['990 values in each of 300 nodeIds', worst.connectedNodeIds(300, 990), 'BAD_USER_INPUT'],
    ['19,900 empty filters used 190 times', worst.emptyFiltersUsedOften(19_900, 190), 'TOO_MANY_VALUES'],
    ['19,000 empty filters used 900 times in a filter', worst.emptyFiltersInAFilter(19_000, 900), 'TOO_MANY_VALUES'],
    ['a filter of 450 values used 2,900 times', worst.nestedFiltersUsedOften(90, 2_900), 'TOO_MANY_VALUES'],
    ['3,600 values in a fragment spread 190 times', worst.filtersInFragments(6, 85, 190), 'TOO_MANY_VALUES'],
    ['730 values in a fragment spread 190 times', worst.filtersInFragments(2, 52, 190), 'TOO_MANY_SUBQUERIES'],
    ['19,000 empty conditions used 190 times', worst.conditionsUsedOften(19_000, 190), 'TOO_MANY_VALUES'],
    ['19,000 names of columns used 100 times', worst.updatedColumnsUsedOften(19_000, 100), 'TOO_MANY_VALUES'],
    ['19,000 rows connected 100 times', worst.connectedRowsUsedOften(19_000, 100), 'TOO_MANY_VALUES'],
    ['19,000 order keys', worst.ordersUsedOften(19_000, 1), 'TOO_MANY_ORDER_KEYS'],
    ['19,000 order keys used 3 times', worst.ordersUsedOften(19_000, 3), 'TOO_MANY_ORDER_KEYS'],
    ['19,000 order keys used 30 times', worst.ordersUsedOften(19_000, 30), 'TOO_MANY_VALUES'],
    ['19,000 order keys of 3 mutations', worst.ordersOfMutations(19_000, 3), 'TOO_MANY_ORDER_KEYS'],
    ['19,000 order keys of groups used 3 times', worst.ordersOfGroups(19_000, 3), 'TOO_MANY_ORDER_KEYS'],
    ['3,900 order keys in the document', worst.ordersInDocument(3_900), 'TOO_MANY_ORDER_KEYS'],
    ['a string of 300 KB', worst.longString(300_000), 'DOCUMENT_TOO_LARGE'],
    ['a comment of 300 KB', worst.longComment(150_000), 'DOCUMENT_TOO_LARGE'],
    ['a name of 200 KB', worst.longName(200_000), 'GRAPHQL_VALIDATION_FAILED'],
    ['an operation name of 900 KB', worst.longOperationName(900_000), 'OPERATION_RESOLUTION_FAILURE'],
    ['5,000 unknown fields', worst.unknownFields(4_900), 'GRAPHQL_VALIDATION_FAILED'],
    ['brackets that are never closed', worst.unclosed(60_000), 'TOO_DEEP'],
    ['2,500 directives', worst.directives(2_500), 'GRAPHQL_VALIDATION_FAILED'],
    ['3,000 unknown directives', worst.unknownDirectives(3_000), 'GRAPHQL_VALIDATION_FAILED'],
    ['2,000 definitions of types', worst.typeDefinitions(2_000), 'GRAPHQL_VALIDATION_FAILED'],
    ['introspection of types of types', worst.introspectionBomb(4), 'GRAPHQL_VALIDATION_FAILED'],
  ];
  for (const [name, request, code] of refused) {
    it(`${name}: ${code}, and nothing is sent`, async () => assert.deepEqual(await send(request), [code, 0]));
  }

  const answered: readonly (readonly [string, GraphQLRequest])[] = [
    ['708 equal fields', worst.equalFields(708)],
    ['4,900 equal fields', worst.equalFields(4_900)],
    ['1,000 aliases', worst.aliasedColumns(1_000)],
    ['190 aliases of 170 characters', worst.longAliases(190, 170)],
    ['relations 15 deep', worst.nestedRelations(15)],
    ['900 fragments in a chain', worst.chainedFragments(900)],
    ['900 fragments', worst.wideFragments(900)],
    ['200 mutations', worst.mutationFields(200)],
    ['499 members of a filter', worst.orMembers(999)],
    ['a filter of 900 variables', worst.manyVariables(900)],
    ['relations of a filter 28 deep', worst.nestedEvery(14)],
    ['alternatives of a filter 20 deep', worst.nestedAlternatives(10)],
    ['10,000 elements in a variable', worst.inListByVariable(10_000)],
    ['9,900 empty filters used 9 times', worst.emptyFiltersUsedOften(9_900, 9)],
    ['9,900 names of columns used 14 times', worst.updatedColumnsUsedOften(9_900, 14)],
    ['1,000 order keys', worst.ordersUsedOften(1_000, 1)],
    ['1,000 order keys after nulls', worst.ordersAfterNulls(1_000)],
    ['250 order keys of 4 mutations', worst.ordersOfMutations(250, 4)],
    ['250 order keys of groups used 4 times', worst.ordersOfGroups(250, 4)],
    ['50 operations', worst.manyOperations(50)],
    ['lines of a block string', worst.blockString(200_000)],
  ];
  for (const [name, request] of answered) {
    it(`${name}: answered, in one batch`, async () => assert.deepEqual(await send(request), [null, 1]));
  }

  it('nested writes within the limits are left to PostgreSQL', async () => {
    assert.deepEqual(await send(worst.nestedRows(1_000, 10)), ['CONSTRAINT_VIOLATION', 1]);
    assert.deepEqual(await send(worst.upsertedRows(2_000)), ['CONSTRAINT_VIOLATION', 1]);
    assert.deepEqual(await send(worst.connectedRows(19_000)), [null, 1]);
  });

  it('introspection is answered once, and refused where a document asks for it hundreds of times', async () => {
    assert.equal((await send({ query: getIntrospectionQuery() }))[0], null);
    assert.deepEqual(await send(worst.introspectionAliases(290)), ['QUERY_TOO_COMPLEX', 0]);
    assert.deepEqual(await send(worst.introspectionRoots(190)), ['QUERY_TOO_COMPLEX', 0]);
  });

  it('counting an operation takes as long as its text, whatever it expands to', () => {
    const visited = (count: number): number => measureOperations(parse(worst.doublingFragments(count).query)).visited;
    // Ten fragments more are as many visits more, at 2^10 as at 2^40.
    assert.equal(visited(20) - visited(10), visited(50) - visited(40));
  });

  it('messages repeat no more than the beginning of what was sent', async () => {
    const long = 'x'.repeat(500_000);
    const requests: GraphQLRequest[] = [
      worst.longOperationName(900_000),
      worst.longName(200_000),
      {
        query: 'query ($filter: AccountFilter) { accountCollection(filter: $filter) { edges { cursor } } }',
        variables: { filter: { [long]: 1 } },
      },
      { query: 'query ($n: Int) { accountCollection(first: $n) { edges { cursor } } }', variables: { n: long } },
      { query: 'query ($n: OrderByDirection!) { accountCollection(orderBy: [{ id: $n }]) { edges { cursor } } }', variables: { n: long } },
      {
        query: 'query ($d: Datetime) { accountCollection(filter: { createdAt: { eq: $d } }) { edges { cursor } } }',
        variables: { d: [long] },
      },
    ];
    for (const request of requests) {
      const { errors } = await test.graph.execute(request, { role: 'anon' });
      assert.ok(errors && JSON.stringify(errors).length < 1_000, JSON.stringify(errors).slice(0, 300));
    }
  });

  it('service_role has no limits, nor has anybody where they are off', async () => {
    assert.deepEqual((await send(worst.aliasedColumns(2_000), graph, 'service_role'))[0], null);
    const over = worst.rootFields(300);
    const codeWith = async (limits: LimitSettings, roleLimits?: Record<string, LimitSettings>): Promise<string | null> => {
      const limited = await createRowgraph({ database: test.pglite, limits, ...(roleLimits && { roleLimits }) });
      try {
        return (await send(over, limited))[0];
      } finally {
        await limited.close();
      }
    };
    assert.equal(await codeWith('off'), null);
    assert.equal(await codeWith('strict'), 'TOO_MANY_TOKENS');
    assert.equal(await codeWith({ base: 'off', aliases: 299 }), 'TOO_MANY_ALIASES');
    assert.equal(await codeWith('strict', { anon: 'off' }), null);
  });

  it('more than 65,535 values are refused before they are written', async () => {
    const rows = Array.from({ length: 11_000 }, (_, id) => ({ id, email: 'e', name: 'n', age: 1, tags: [], createdAt: null }));
    const query = 'mutation ($objects: [AccountInsertInput!]!) { insertIntoAccountCollection(objects: $objects) { affectedCount } }';
    assert.deepEqual(await send({ query, variables: { objects: rows } }, graph, 'service_role'), ['QUERY_TOO_COMPLEX', 0]);
  });

  it('a page size in a variable counts by its value, in each request', async () => {
    const { query } = worst.pageProductByVariable(1, 3);
    // Accounts come in pages of 1000, and so do the blogs of each.
    assert.equal((await send({ query, variables: { size: 2 } }))[0], null);
    assert.deepEqual(await send({ query, variables: { size: 1000 } }), ['TOO_MANY_ESTIMATED_ROWS', 0]);
    assert.equal((await send({ query, variables: { size: 3 } }))[0], null);
  });

  it('a page product is refused with the selection that costs most, but no number of rows', async () => {
    const { errors } = await test.graph.execute(worst.pageProduct(1000, 4), { role: 'anon' });
    const [{ message, path, extensions }] = errors as [{ message: string; path: string[]; extensions: object }];
    const costly = 'accountCollection.edges.node.blogCollection.edges.node.owner.blogCollection';
    assert.equal(
      message,
      `The operation could read more than 100,000 rows. Most of them are in "${costly}". Ask for smaller pages there or around it, such as "first: 10", or ask for a higher limit.`,
    );
    assert.equal(path.join('.'), costly);
    assert.deepEqual(extensions, { code: 'TOO_MANY_ESTIMATED_ROWS', limit: 'estimatedRows', maximum: 100_000 });
  });

  it('a page product of small tables is answered, until they have grown', async (context) => {
    const levels = ['accountCollection', 'blogCollection', 'postCollection', 'commentCollection'];
    const query = `{ ${levels.reduceRight((inner, name) => `${name} { edges { node { ${inner} } } }`, 'id author { name }')} }`;
    // Those of an ordinary sample database, in which page sizes alone make 900 million.
    await test.pglite.exec("update pg_class set reltuples = 3503 where relname in ('account', 'blog', 'post', 'comment')");
    context.after(() => test.pglite.exec(worst.fullPages));
    const fresh = await createRowgraph({ database: test.pglite });
    try {
      assert.deepEqual(await send({ query }, fresh), [null, 1]);
      // Many blogs have one owner, whose blogs are read for each of them.
      assert.deepEqual(await send(worst.pageProduct(1000, 4), fresh), ['TOO_MANY_ESTIMATED_ROWS', 0]);
      await test.pglite.exec(worst.fullPages);
      assert.deepEqual(await send({ query }, fresh), [null, 1]);
      await fresh.reload();
      assert.deepEqual(await send({ query }, fresh), ['TOO_MANY_ESTIMATED_ROWS', 0]);
    } finally {
      await fresh.close();
    }
  });

  it('says what a request counts', async () => {
    const cost = await test.graph.cost(worst.doublingFragments(20), { role: 'anon' });
    assert.deepEqual(cost.limits.fields, limitTable.fields.default);
    const [only] = cost.operations;
    assert.equal(only?.counts.fields, 9_437_179);
    assert.ok(only?.exceeded.includes('fields'));
    assert.equal(only?.counts.estimatedRows, null);
    const page = await test.graph.cost(worst.pageProductByVariable(1000, 2), { role: 'anon' });
    assert.equal(page.operations[0]?.counts.estimatedRows, 1000 * (1 + 1000 * 2));
    assert.deepEqual(page.operations[0]?.exceeded, ['estimatedRows']);
    // What was counted for a report is not kept as if it had been within the limits.
    assert.equal((await send(worst.pageProductByVariable(1000, 2)))[0], 'TOO_MANY_ESTIMATED_ROWS');
    const wrong = await test.graph.cost({ query: 'query a { nope } query b { __typename }' }, { role: 'anon' });
    assert.match(wrong.operations[0]?.error ?? '', /Cannot query field "nope"/);
    assert.equal(wrong.operations.length, 2);
  });

  it('tells the cost in the response, where it is asked to', async () => {
    const telling = await createRowgraph({ database: test.pglite, reportCost: true });
    try {
      const result = await telling.execute({ query: '{ accountCollection(first: 5) { edges { cursor } } }' }, { role: 'anon' });
      const { extensions } = result as unknown as { extensions: { cost: Record<string, number> } };
      assert.deepEqual([extensions.cost.estimatedRows, extensions.cost.fields, extensions.cost.depth], [5, 3, 3]);
    } finally {
      await telling.close();
    }
  });
});
