/** PostgreSQL plans a page after a cursor once for all cursors, unless other values or the role could change the plan. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createRowgraph } from '../src/index.ts';
import { startTestDatabases, type TestDatabases } from './support/test-databases.ts';

const setup = `
  create table note (id int primary key, written timestamptz not null, seen timestamptz, done boolean not null, author text not null);
  create table secret (like note including all);
  alter table secret enable row level security;
  create policy own on secret using (author = current_user);
  create table part (id int primary key) partition by range (id);
  create table part_1 partition of part for values from (0) to (100);
  create view noted as select * from note;
  comment on view noted is '@graphql({"primary_key_columns": ["id"]})';
  grant select on all tables in schema public to anon;
`;
const cursors: Readonly<Record<string, unknown>> = {
  id: [1],
  written: ['2020-01-01', 1],
  seen: ['2020-01-01', 1],
};
let databases: TestDatabases;
before(async () => {
  databases = await startTestDatabases();
});
after(() => databases?.close());

/** How many of the first runs of a query PostgreSQL planned for the values: none with a generic plan, by default five. */
async function customPlans(url: string, collection: string, query: string, variables: object): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  // `pool.end` does not wait until the connection is closed, so the server may still terminate it when it stops.
  pool.on('connect', (client) => client.on('error', () => {}));
  // An idle connection's error is that of its pool.
  pool.on('error', () => {});
  const graph = await createRowgraph({ database: pool });
  try {
    for (let run = 0; run < 7; run++) {
      const { errors } = await graph.execute({ query, variables: { ...variables } }, { role: 'anon' });
      assert.equal(errors, undefined);
    }
    const { rows } = await pool.query<{ custom_plans: string }>('select custom_plans from pg_prepared_statements where statement like $1', [
      `%"public"."${collection}" as t1%`,
    ]);
    assert.equal(rows.length, 1);
    return Number(rows[0]!.custom_plans);
  } finally {
    await graph.close();
    await pool.end();
  }
}

const pages: readonly { name: string; collection?: string; order?: string; arguments?: string; from?: string; isGeneric: boolean }[] = [
  { name: 'in the order of the key', isGeneric: true },
  { name: 'by columns in one direction', order: '{written: DescNullsLast}, {id: DescNullsLast}', from: 'written', isGeneric: true },
  { name: 'under a filter by a literal that is part of the SQL', arguments: 'filter: {done: {eq: true}}', isGeneric: true },
  { name: 'with an offset that is part of the SQL', arguments: 'offset: 1', isGeneric: true },
  { name: 'by columns in two directions', order: '{written: DescNullsLast}, {id: AscNullsLast}', from: 'written', isGeneric: false },
  { name: 'by a column that may be null', order: '{seen: AscNullsLast}, {id: AscNullsLast}', from: 'seen', isGeneric: false },
  { name: 'under a filter by a value', arguments: 'filter: {author: {eq: "me"}}', isGeneric: false },
  { name: 'with row level security', collection: 'secret', isGeneric: false },
  { name: 'of a partitioned table', collection: 'part', isGeneric: false },
  { name: 'of a view', collection: 'noted', isGeneric: false },
];

for (const { name, collection = 'note', order = '{id: AscNullsLast}', arguments: more = '', from = 'id', isGeneric } of pages) {
  test(`a page ${name}`, async () => {
    const { url } = await databases.create(setup);
    const query = `query ($after: Cursor) {
      ${collection}Collection(first: 2, after: $after, orderBy: [${order}] ${more}) { edges { node { id } } pageInfo { hasNextPage endCursor } }
    }`;
    const cursor = Buffer.from(JSON.stringify(cursors[from])).toString('base64');
    const plans = await customPlans(url, collection, query, { after: cursor });
    assert.equal(plans === 0, isGeneric, `${plans} custom plans`);
  });
}

test('a page whose size is a variable', async () => {
  const { url } = await databases.create(setup);
  const query = 'query ($after: Cursor, $first: Int) { noteCollection(first: $first, after: $after) { edges { node { id } } } }';
  assert.notEqual(await customPlans(url, 'note', query, { after: Buffer.from('[1]').toString('base64'), first: 2 }), 0);
});

test('a login role keeps its own plan_cache_mode', async () => {
  const { url } = await databases.create(setup);
  const address = new URL(url);
  address.searchParams.set('options', '-c plan_cache_mode=force_custom_plan');
  const query = 'query ($after: Cursor) { noteCollection(first: 2, after: $after) { edges { node { id } } } }';
  assert.equal(await customPlans(String(address), 'note', query, { after: Buffer.from('[1]').toString('base64') }), 7);
});
