/**
 * Columns that are NOT NULL but contain null nevertheless, because PostgreSQL does not prevent it: the response has null for them, and
 * remains valid JSON.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { graphql } from 'graphql';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  started = await startTestGraph(`
    create table raft (id int primary key, name text);
    create table fleet (id int primary key, rafts raft[]);
    insert into fleet values (1, array[row(1, 'a')::raft, null, row(2, null)::raft]), (2, '{}'), (3, null), (4, array[null]::raft[]);
    create function all_rafts(fleet) returns raft[] language sql stable as 'select $1.rafts';
    create sequence calls;
    create function counted_rafts(fleet) returns raft[] language sql volatile as $$select nextval('calls'); select $1.rafts$$;
    create function shout(raft) returns text language sql stable as $$select upper($1.name)$$;
    create table harbour (id int primary key);
    create table berth (
      id int primary key, name text not null, depth numeric(4,1) not null, taken boolean not null, harbour_id int not null references harbour
    );
    create table mooring (id int primary key, place berth, places berth[]);
    insert into harbour values (1);
    insert into berth values (1, 'north', 4.5, false, 1);
    insert into mooring values (1, row(7, null, null, null, null), array[row(8, null, 2, true, null)::berth]);
    create function nearest() returns berth language sql stable as 'select 5, null::text, null::numeric, null::boolean, null::int';
    create function nearby() returns setof berth language sql stable as
      $$values (5, null::text, null::numeric, null::boolean, null::int), (6, 'south', 1, true, 1), (null, 'nowhere', 1, true, 1)$$;
    create function "reserve"() returns setof berth language sql volatile as 'select 5, null::text, null::numeric, null::boolean, null::int';
    create table quay (id int primary key, name text not null no inherit);
    create table pier () inherits (quay);
    insert into pier values (3, null);
    create table bollard (id int primary key, name text not null);
    create function bollards() returns setof bollard language sql stable as $$values (1, 'a'), (2, null), (3, 'b'), (4, null)$$;
    create table jetty (id int primary key, name text not null no inherit);
    create table slipway () inherits (jetty);
    insert into jetty values (1, 'a'), (3, 'b');
    insert into slipway values (2, null), (4, null);`);
});
after(() => started.stop());

const ask = (query: string): Promise<unknown> => started.ask(query);

const fields = 'id name depth taken';
const unknown = { name: null, depth: null, taken: null };

test('in the row that a function returns', async () => {
  assert.deepEqual(await ask(`{ nearest { ${fields} } }`), { nearest: { id: 5, ...unknown } });
});

test('in the rows of a function; rows without a key are left out, as in pg_graphql', async () => {
  const edges = [{ node: { id: 5, ...unknown } }, { node: { id: 6, name: 'south', depth: '1.0', taken: true } }];
  assert.deepEqual(await ask(`{ nearby { edges { node { ${fields} } } } }`), { nearby: { edges } });
  assert.deepEqual(await ask(`mutation { reserve { edges { node { ${fields} } } } }`), { reserve: { edges: [edges[0]] } });
});

test('in values of a row type', async () => {
  assert.deepEqual(await ask(`{ mooringCollection { edges { node { place { ${fields} } places { ${fields} } } } } }`), {
    mooringCollection: {
      edges: [{ node: { place: { id: 7, ...unknown }, places: [{ id: 8, name: null, depth: '2.0', taken: true }] } }],
    },
  });
});

test('the type of such values says so, for clients that check what they read', async () => {
  const source = `{ mooringCollection { edges { node { place { ${fields} harbour { id } } places { ${fields} } } } } }`;
  const schema = await started.graph.schema({ role: 'service_role' });
  const { data, errors } = await graphql({ schema, source });
  assert.deepEqual([JSON.parse(JSON.stringify(data)), errors], [await ask(source), undefined]);
});

test('in the rows of a child table', async () => {
  assert.deepEqual(await ask('{ quayCollection { edges { node { id name } } } }'), {
    quayCollection: { edges: [{ node: { id: 3, name: null } }] },
  });
});

test('a table without children cannot contain any, so none are looked for', async () => {
  const { statements } = await started.graph.explain(
    { query: `{ berthCollection { edges { node { ${fields} } } } }` },
    { role: 'service_role' },
    { mode: 'sql' },
  );
  assert.doesNotMatch(statements[0]!.text, /'null'/);
});

test('null elements of lists of rows stay null', async () => {
  const lists = [[{ id: 1, name: 'a', shout: 'A' }, null, { id: 2, name: null, shout: null }], [], null, [null]];
  assert.deepEqual(
    await ask('{ fleetCollection { edges { node { rafts { id name shout } all_rafts { id name shout } counted_rafts { id name } } } } }'),
    {
      fleetCollection: {
        edges: lists.map((rafts) => ({
          node: { rafts, all_rafts: rafts, counted_rafts: rafts?.map((raft) => raft && { id: raft.id, name: raft.name }) ?? null },
        })),
      },
    },
  );
  assert.deepEqual(await started.database.run('select last_value::int from calls'), [{ last_value: 4 }]);
});

const orders = { AscNullsLast: [1, 3, 2, 4], AscNullsFirst: [2, 4, 1, 3], DescNullsLast: [3, 1, 2, 4], DescNullsFirst: [2, 4, 3, 1] };

for (const [direction, expected] of Object.entries(orders)) {
  for (const field of ['bollards', 'jettyCollection']) {
    test(`nulls of ${field} sort where they should, and paging finds all of them: ${direction}`, async () => {
      const read = async (paging: string) => {
        const data = await ask(`{ rows: ${field}(${paging} orderBy: [{name: ${direction}}]) { edges { cursor node { id } } } }`);
        return (data as { rows: { edges: { cursor: string; node: { id: number } }[] } }).rows.edges;
      };
      assert.deepEqual(
        (await read('')).map(({ node }) => node.id),
        expected,
      );
      for (const [size, side] of [
        ['first', 'after'],
        ['last', 'before'],
      ]) {
        const pages: number[][] = [];
        for (let cursor = ''; pages.length < 5; ) {
          const page = await read(`${size}: 1 ${cursor}`);
          if (page.length === 0) break;
          pages.push(page.map(({ node }) => node.id));
          cursor = `${side}: "${page[0]!.cursor}"`;
        }
        assert.deepEqual(pages.flat(), size === 'first' ? expected : expected.toReversed());
      }
    });
  }
}
