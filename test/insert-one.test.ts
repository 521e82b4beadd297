/** Inserts of one row, whose response is built from that row: also if a trigger changes it, or suppresses it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  started = await startTestGraph(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table harbour (id int primary key generated always as identity, name text not null);
    create table ship (id int primary key generated always as identity, name text not null, harbour_id int references harbour, loud text);
    create view boat as select id, name from ship;
    comment on view boat is '@graphql({"primary_key_columns": ["id"]})';
    insert into harbour (name) values ('Emden');
    create function screen() returns trigger language plpgsql as $$
      begin if new.name = 'ghost' then return null; end if; new.loud = upper(new.name); return new; end $$;
    create trigger screen before insert on ship for each row execute function screen();
    create function launch() returns trigger language plpgsql as $$
      begin insert into ship (name) values (new.name) returning id into new.id; if new.id is null then return null; end if; return new; end $$;
    create trigger launch instead of insert on boat for each row execute function launch();
    create function label(ship) returns text stable language sql as $$ select $1.name || ' (' || $1.loud || ')' $$;`);
});
after(() => started.stop());

async function insert(table: 'Ship' | 'Boat', object: string, selection: string): Promise<unknown> {
  const query = `mutation { made: insertInto${table}Collection(objects: [${object}]) { ${selection} } }`;
  return ((await started.ask(query)) as { made: unknown }).made;
}

test('the row is returned as it is in the table, with its related rows', async () => {
  const selection = 'affectedCount __typename all: records { name loud twice: loud label harbour { name } nodeId }';
  assert.deepEqual(await insert('Ship', '{name: "Aal", harbourId: 1}', selection), {
    affectedCount: 1,
    __typename: 'ShipInsertResponse',
    all: [
      {
        name: 'Aal',
        loud: 'AAL',
        twice: 'AAL',
        label: 'Aal (AAL)',
        harbour: { name: 'Emden' },
        nodeId: Buffer.from('["public", "ship", 1]').toString('base64'),
      },
    ],
  });
});

test('a row that a trigger suppresses is not returned', async () => {
  const selection = 'all: records { name } affectedCount __typename';
  const nothing = { all: [], affectedCount: 0 };
  assert.deepEqual(await insert('Ship', '{name: "ghost"}', selection), { ...nothing, __typename: 'ShipInsertResponse' });
  assert.deepEqual(await insert('Boat', '{name: "ghost"}', selection), { ...nothing, __typename: 'BoatInsertResponse' });
});

test('through a view', async () => {
  assert.deepEqual(await insert('Boat', '{name: "Barsch"}', 'records { name } affectedCount'), {
    records: [{ name: 'Barsch' }],
    affectedCount: 1,
  });
});
