/** `graph.explain` over a real PostgreSQL: ten operations with their plans and advice, that advice helps, and that nothing changes. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { describeExplanation } from '../../src/cli/output/describe-explanation.ts';
import { ApiError, type Caller, createRowgraph, type DatabasePlanNode, type Explanation, type Rowgraph } from '../../src/index.ts';
import { startPgliteGraph } from '../support/pglite-graph.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { operations, schemaSql } from './ten-operations.ts';

const caller: Caller = { role: 'anon', claims: { sub: 'u1' } };
const expectedFile = new URL('expected.txt', import.meta.url);
let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(schemaSql);
  graph = await createRowgraph({ database: database.url });
});
after(async () => {
  await graph.close();
  await databases.close();
});

const adviceOf = ({ advice }: Explanation) => advice.map(({ code, sql }) => [code, sql]);
/** What PostgreSQL estimates for all statements. */
const costOf = ({ statements }: Explanation) =>
  statements.reduce((sum, { databasePlan }) => sum + databasePlan!.root.estimate.totalCost, 0);
const nodesOf = (node: DatabasePlanNode): DatabasePlanNode[] => [node, ...node.children.flatMap(nodesOf)];

test('ten operations, as a person reads them without the database', async () => {
  const texts: string[] = [];
  for (const { name, query, variables } of operations) {
    texts.push(`## ${name}\n\n${describeExplanation(await graph.explain({ query, variables }, caller, { mode: 'sql' }))}`);
  }
  const text = texts.join('\n');
  if (process.argv.includes('--update')) writeFileSync(expectedFile, text);
  assert.equal(text, readFileSync(expectedFile, 'utf8'));
});

describe('advice', () => {
  for (const { name, query, variables, advice } of operations) {
    test(`${name}: ${advice.length} pieces, which are gone once their SQL has run`, async () => {
      const request = { query, variables };
      assert.deepEqual(adviceOf(await graph.explain(request, caller)), advice);
      assert.deepEqual(adviceOf(await graph.explain(request, caller, { mode: 'analyze' })), advice);
      const before = costOf(await graph.explain(request, caller));
      for (const [, sql] of advice) await database.run(sql);
      if (advice.length > 0) await database.run('analyze');
      const explained = await graph.explain(request, caller);
      assert.deepEqual(adviceOf(explained), []);
      // What is advised for a table that is small as yet helps later.
      if (advice.some(([code]) => code !== 'unindexed-relation')) assert.ok(costOf(explained) < before, `${costOf(explained)} < ${before}`);
      assert.deepEqual(adviceOf(await graph.explain(request, caller, { mode: 'analyze' })), []);
    });
  }

  test('relations that only filters follow need an index too', async () => {
    await database.run(`create table mark (id int primary key, note_id int references note, stars int); insert into mark values (1, 1, 5);
      grant all on mark to anon`);
    await graph.reload();
    const filter = '{ not: { or: [{ markCollection: { some: { note: { account: { name: { eq: "a7" } } } } } }, { id: { eq: 3 } }] } }';
    const advice = [['unindexed-relation', 'create index concurrently on public.mark (note_id);']];
    for (const query of [
      `{ noteCollection(filter: ${filter}) { totalCount } }`,
      `{ accountCollection(filter: { noteCollection: { count: { gte: 1 }, where: ${filter} } }) { edges { node { id } } } }`,
      `mutation { deleteFromNoteCollection(filter: ${filter}) { affectedCount } }`,
    ]) {
      const given = adviceOf(await graph.explain({ query }, caller)).filter(([code]) => code === 'unindexed-relation');
      assert.deepEqual(given, advice, query);
    }
  });

  test('relations that anything else follows need an index too', async () => {
    const some = '{ markCollection: { some: { stars: { gt: 3 } } } }';
    for (const [what, query] of Object.entries({
      'the order of a page': '{ noteCollection(orderBy: [{ markCollection: { count: DescNullsLast } }]) { edges { node { id } } } }',
      'an order through another relation':
        '{ markCollection(orderBy: [{ note: { markCollection: { count: AscNullsLast } } }]) { edges { node { id } } } }',
      'the order of written rows':
        'mutation { deleteFromNoteCollection(filter: { id: { eq: 3 } }) { edges(orderBy: [{ markCollection: { count: DescNullsLast } }]) { node { id } } } }',
      'the filter of a conflict': `mutation { insertIntoNoteCollection(objects: [{ id: 1 }], onConflict: { constraint: note_pkey, updateColumns: [body], filter: ${some} }) { affectedCount } }`,
      'the filter of a nested update': `mutation { updateAccountCollection(filter: { id: { eq: 1 } }, set: { noteCollection: { update: [{ filter: ${some}, set: { body: "b" } }] } }) { affectedCount } }`,
    })) {
      const given = adviceOf(await graph.explain({ query }, caller)).filter(([code]) => code === 'unindexed-relation');
      assert.deepEqual(given, [['unindexed-relation', 'create index concurrently on public.mark (note_id);']], what);
    }
  });

  test('an index that it advised is used', async () => {
    const { statements } = await graph.explain({ query: operations[5]!.query }, caller);
    const types = nodesOf(statements[0]!.databasePlan!.root).map(({ type }) => type);
    assert.ok(types.some((type) => type.startsWith('Index')) && !types.includes('Sort'), types.join());
  });
});

describe('explaining', () => {
  test('measures what ran in the mode analyze alone, and rolls it back', async () => {
    const rows = () => database.run('select (select count(*) from note) as notes, (select count(*) from memo) as memos');
    const before = await rows();
    const request = { query: operations[9]!.query };
    const planned = await graph.explain(request, caller);
    assert.ok(planned.statements.every(({ databasePlan }) => nodesOf(databasePlan!.root).every(({ actual }) => actual === null)));
    const analyzed = await graph.explain(request, caller, { mode: 'analyze' });
    const deleted = nodesOf(analyzed.statements[1]!.databasePlan!.root).find(({ type }) => type === 'Delete');
    assert.ok((deleted?.actual?.rows ?? 0) > 0);
    assert.deepEqual(await rows(), before);
    // The mutation itself would do it.
    assert.equal(
      (await graph.execute({ query: 'mutation { deleteFromNoteCollection(filter: { id: { eq: 500 } }) { affectedCount } }' }, caller))
        .errors,
      undefined,
    );
    assert.notDeepEqual(await rows(), before);
  });

  test('a statement that fails is an error as execution has it, and nothing of those before it stays', async () => {
    const query =
      'mutation { deleteFromNoteCollection(filter: { id: { eq: 501 } }) { affectedCount } insertIntoNoteCollection(objects: [{ id: 3, createdAt: "2024-01-01" }]) { affectedCount } }';
    await assert.rejects(graph.explain({ query }, caller, { mode: 'analyze' }), { code: 'CONSTRAINT_VIOLATION' });
    assert.equal((await database.run('select from note where id = 501')).length, 1);
    assert.equal((await graph.explain({ query }, caller)).statements.length, 2);
  });

  test('runs as the role: what it has no rights for is not a field, and privileged roles are refused', async () => {
    await database.run('create role reader; grant reader to authenticator; grant usage on schema public to reader');
    await graph.reload();
    await assert.rejects(
      graph.explain({ query: '{ noteCollection { edges { node { id } } } }' }, { role: 'reader' }),
      /Cannot query field/,
    );
    await assert.rejects(graph.explain({ query: '{ __typename }' }, { role: 'authenticator' }), { code: 'UNAUTHENTICATED' });
    await assert.rejects(
      graph.explain({ query: '{ __typename }' }, { role: 'nobody"; drop table note; --' }),
      (error) => error instanceof ApiError,
    );
    await assert.rejects(graph.explain({ query: '{ __typename }' }, { role: 'anon', claims: 7 as never }), TypeError);
  });

  test('claims and row level security hold for the plan', async () => {
    const rows = async (sub: string): Promise<number | undefined> => {
      const { statements } = await graph.explain(
        { query: '{ taskCollection { edges { node { id } } } }' },
        { role: 'anon', claims: { sub } },
        { mode: 'analyze' },
      );
      return nodesOf(statements[0]!.databasePlan!.root).find(({ table }) => table?.name === 'task')?.actual?.rows;
    };
    assert.deepEqual([await rows('u1'), await rows('nobody')], [1, 0]);
  });

  test('works the same over PGlite', async () => {
    const started = await startPgliteGraph('create table pebble (id int primary key)');
    const query = 'mutation { insertIntopebbleCollection(objects: [{ id: 1 }]) { affectedCount } }';
    const { statements } = await started.graph.explain({ query }, { role: 'anon' }, { mode: 'analyze' });
    assert.ok(nodesOf(statements[0]!.databasePlan!.root).some(({ type, actual }) => type === 'Insert' && actual?.rows === 1));
    const { data } = await started.graph.execute({ query: '{ pebbleCollection { edges { node { id } } } }' }, { role: 'anon' });
    assert.deepEqual(data, { pebbleCollection: { edges: [] } });
    await started.stop();
  });

  test('rows in columns and of functions are told with what they lead to', async (context) => {
    const started = await startPgliteGraph(`
      create table owner (id int primary key);
      create table pebble (id int primary key, owner_id int references owner);
      create table crate (id int primary key, pebble pebble);
      create function _best(crate crate) returns pebble stable language sql as 'select null::pebble';`);
    context.after(() => started.stop());
    const query = `{ crateCollection(first: 1) { edges { node { pebble { id owner { id } } best { owner { id } } } } }
      crateByPk(id: 1) { id } __typename }`;
    const { plan } = await started.graph.explain({ query }, { role: 'anon' });
    const labels = (plan ?? []).flatMap(function list({ label, children }): string[] {
      return [label, ...children.flatMap(list)];
    });
    assert.ok(labels.includes('pebble: a row in the column pebble'), labels.join('\n'));
    assert.equal(labels.filter((label) => label.startsWith('owner: one row of public.owner by ')).length, 2, labels.join('\n'));
  });

  test('what needs no database has no statements', async () => {
    const { statements, plan, advice } = await graph.explain({ query: '{ __typename }' }, caller, { mode: 'analyze' });
    assert.deepEqual([statements, plan, advice], [[], [{ label: '__typename: the type name', children: [] }], []]);
  });

  test('of several operations one must be named', async () => {
    const query = 'query a { __typename } query b { noteByPk(id: 1) { id } }';
    await assert.rejects(graph.explain({ query }, caller), /operation/i);
    assert.equal((await graph.explain({ query, operationName: 'b' }, caller)).operation.name, 'b');
  });
});

test("plans do not show rowgraph's own check of the schema version, nor its costs", async (context) => {
  const sql = 'create table letter (id int primary key, body text); insert into letter values (1)';
  const { graph: watched, stop } = await startPgliteGraph(sql, { schemaTriggers: true });
  context.after(stop);
  for (const query of [
    '{ letterCollection { edges { node { id } } } }',
    'mutation { updateletterCollection(set: {body: "x"}) { affectedCount } }',
  ])
    for (const mode of ['plan', 'analyze'] as const) {
      const { statements } = await watched.explain({ query }, { role: 'service_role' }, { mode });
      assert.match(statements[0]!.text, /rowgraph\.schema_change/, 'it runs');
      const { root } = statements[0]!.databasePlan!;
      assert.doesNotMatch(JSON.stringify(root), /schema_change/);
      const below = root.children.reduce((sum, { estimate }) => sum + estimate.totalCost, 0);
      assert.ok(root.estimate.totalCost < below + 10, `the costs of ${mode} are those of what is shown`);
    }
});
