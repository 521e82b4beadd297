/**
 * Updates and deletes of one row by its key, whose response is built from that row: also if there is no such row, a trigger keeps it, or
 * the key is no longer unique.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  started = await startTestGraph(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table harbour (id int primary key, name text not null);
    create table ship (id int primary key, name text not null, harbour_id int references harbour, loud text, trips int not null default 0);
    create table leg (ship_id int, number int, note text, primary key (ship_id, number));
    create table berth (id int, name text, primary key (id) deferrable initially deferred);
    insert into harbour values (1, 'Emden');
    insert into ship (id, name, harbour_id) values (1, 'Aal', 1), (2, 'Barsch', null), (3, 'ghost', 1), (4, 'Dorsch', 1);
    insert into leg values (1, 1, 'a'), (1, 2, 'b'), (2, 1, 'c');
    insert into berth values (1, 'north'), (2, 'south');
    create function screen() returns trigger language plpgsql as $$
      begin if old.name = 'ghost' then return null; end if; new.loud = upper(new.name); return new; end $$;
    create trigger screen before update on ship for each row execute function screen();
    create function label(ship) returns text stable language sql as $$ select $1.name || ' (' || $1.loud || ')' $$;`);
});
after(() => started.stop());

const ask = (query: string): Promise<unknown> => started.ask(`mutation { ${query} }`);

test('the updated row is returned, with its related rows', async () => {
  const selection =
    'affectedCount __typename all: records { name loud twice: loud label harbour { name } nodeId } edges { cursor node { trips } }';
  assert.deepEqual(
    await ask(`done: updateShipCollection(set: {name: "Alse"}, increment: {trips: 2}, filter: {id: {eq: 1}}) { ${selection} }`),
    {
      done: {
        affectedCount: 1,
        __typename: 'ShipUpdateResponse',
        all: [
          {
            name: 'Alse',
            loud: 'ALSE',
            twice: 'ALSE',
            label: 'Alse (ALSE)',
            harbour: { name: 'Emden' },
            nodeId: Buffer.from('["public", "ship", 1]').toString('base64'),
          },
        ],
        edges: [{ cursor: Buffer.from('[1]').toString('base64'), node: { trips: 2 } }],
      },
    },
  );
});

test('without a row, with one that other conditions exclude, and with one that a trigger keeps, none is returned', async () => {
  const selection = '{ all: records { name } edges { cursor } affectedCount __typename }';
  const nothing = { all: [], edges: [], affectedCount: 0, __typename: 'ShipUpdateResponse' };
  assert.deepEqual(
    await ask(`none: updateShipCollection(set: {trips: 1}, filter: {id: {eq: 9}}) ${selection}
      left: updateShipCollection(set: {trips: 1}, filter: {id: {eq: 1}, name: {eq: "x"}}, atMost: 5) ${selection}
      kept: updateShipCollection(set: {trips: 1}, filter: {and: [{id: {eq: 3}}]}) ${selection}`),
    { none: nothing, left: nothing, kept: nothing },
  );
});

test('a deleted row is returned as it was', async () => {
  assert.deepEqual(
    await ask(`first: deleteFromLegCollection(filter: {shipId: {eq: 1}, number: {eq: 2}}) { records { note } affectedCount }
      again: deleteFromLegCollection(filter: {shipId: {eq: 1}, number: {eq: 2}}) { records { note } affectedCount }
      half: deleteFromLegCollection(filter: {shipId: {eq: 2}}) { __typename }`),
    {
      first: { records: [{ note: 'b' }], affectedCount: 1 },
      again: { records: [], affectedCount: 0 },
      half: { __typename: 'LegDeleteResponse' },
    },
  );
});

test('"atMost" is enforced: 0, from a variable, and if a key may have two rows until the transaction ends', async () => {
  const { graph, database } = started;
  const message = 'update impacts too many records';
  const run = async (query: string, variables = {}): Promise<unknown> => {
    const { errors } = await graph.execute({ query, variables }, { role: 'service_role' });
    return errors?.[0]?.message;
  };
  const update = 'updateShipCollection(set: {trips: 7}, filter: {id: {eq: 4}}, atMost:';
  assert.equal(await run(`mutation { ${update} 0) { affectedCount } }`), message);
  assert.equal(await run(`mutation ($most: Int!) { ${update} $most) { affectedCount } }`, { most: 0 }), message);
  assert.equal(await run(`mutation ($most: Int!) { ${update} $most) { affectedCount } }`, { most: 1 }), undefined);
  assert.deepEqual(await database.run('select trips from ship where id = 4'), [{ trips: 7 }]);
  const answer = async (id: number, most: number): Promise<unknown> => {
    const query =
      'mutation ($id: Int!, $most: Int!) { done: deleteFromLegCollection(filter: {shipId: {eq: $id}, number: {eq: 1}}, atMost: $most) { records { note } affectedCount } }';
    const { data, errors } = await graph.execute({ query, variables: { id, most } }, { role: 'service_role' });
    return errors?.[0]?.message ?? data;
  };
  const tooMany = 'delete impacts too many records';
  const none = { done: { records: [], affectedCount: 0 } };
  assert.deepEqual([await answer(9, -1), await answer(9, 0), await answer(9, 3)], [tooMany, none, none]);
  assert.deepEqual([await answer(1, -1), await answer(1, 0)], [tooMany, tooMany]);
  assert.deepEqual(await answer(1, 3), { done: { records: [{ note: 'a' }], affectedCount: 1 } });
  const swap = (most: number) => `mutation {
    updateBerthCollection(set: {id: 2}, filter: {name: {eq: "north"}}) { affectedCount }
    both: updateBerthCollection(set: {name: "x"}, filter: {id: {eq: 2}}, atMost: ${most}) { affectedCount }
    third: updateBerthCollection(set: {id: 3}, filter: {id: {eq: 2}}, atMost: 2) { affectedCount } }`;
  assert.equal(await run(swap(1)), message);
  assert.deepEqual(await database.run('select name from berth order by id'), [{ name: 'north' }, { name: 'south' }]);
});

test('a second row with the key, which a schema change allowed, makes it fail', async () => {
  const { graph, database } = started;
  const request = { query: 'mutation { updateShipCollection(set: {trips: 9}, filter: {id: {eq: 2}}) { affectedCount } }' };
  const { statements } = await graph.explain(request, { role: 'service_role' }, { mode: 'sql' });
  const { text, parameters } = statements.at(-1)!;
  await database.run(`alter table ship drop constraint ship_pkey; insert into ship (id, name) values (2, 'other');`);
  const client = await database.connect();
  await assert.rejects(client.query(text, [...parameters]), /more than one row/);
  assert.deepEqual(await database.run('select distinct trips from ship where id = 2'), [{ trips: 0 }]);
});
