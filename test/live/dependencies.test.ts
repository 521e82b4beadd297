/** An answer follows every table that it depends on, whichever way it leads there: each case is a way, and a write at its end. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { loadDependencies } from '../../src/catalog/load-dependencies.ts';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { announceChanges, nextData, untilAnswer } from './answers.ts';

const schemaSql = `
create schema hidden; grant usage on schema hidden to service_role;
create table hidden.price (id int primary key, amount int); insert into hidden.price values (1, 10);
create table hidden.flag (name text primary key, is_on boolean); insert into hidden.flag values ('sale', false), ('other', false);
create table hidden.member (person text, club int); insert into hidden.member values ('ada', 1);
create table hidden.rule (club int); alter table hidden.rule enable row level security;
create policy of_sale on hidden.rule using (exists (select from hidden.flag f where f.name = 'sale' and f.is_on));
insert into hidden.rule values (1); grant select on all tables in schema hidden to service_role, authenticated;
grant usage on schema hidden to authenticated;

create function definer_price() returns int language sql stable security definer as 'select amount from hidden.price where id = 1';
create function dynamic_price() returns int language plpgsql stable as
  'declare found int; begin execute ''select amount from hidden.'' || ''price'' || '' where id = 1'' into found; return found; end';
create function nested_price() returns int language plpgsql stable as 'begin return dynamic_price() * 2; end';
create function standard_price() returns int stable begin atomic select amount from hidden.price where id = 1; end;
create function sale_price() returns int language plpgsql stable as
  'begin if (select is_on from hidden.flag where name = ''sale'') then return (select amount from hidden.price where id = 1); end if; return 0; end';

create view shown as select p.id, p.amount from hidden.price p; comment on view shown is '@graphql({"primary_key_columns": ["id"]})';
create view over_view as select s.id, s.amount + definer_price() as amount from shown s;
comment on view over_view is '@graphql({"primary_key_columns": ["id"]})';

create table club (id int primary key); insert into club values (1); alter table club enable row level security;
create policy by_rule on club for select to authenticated using (id in (select r.club from hidden.rule r));
create table note (id int primary key, club int); insert into note values (1, 1); alter table note enable row level security;
create function is_member(club int) returns boolean language sql stable security definer
  as 'select exists (select from hidden.member m where m.club = $1 and m.person = current_setting(''request.jwt.claims'', true)::json ->> ''sub'')';
create policy by_function on note for select to authenticated using (is_member(club));

create table event (id int, kind int, primary key (id, kind)) partition by list (kind);
create table event_1 partition of event for values in (1);
create table hidden.event_rest partition of event default;
create table animal (id int primary key); create table bird (primary key (id)) inherits (animal);
create table hidden.place (id int primary key, name text); create view hidden.town as select p.id, p.name from hidden.place p;
create function strict_place() returns text language plpgsql stable security definer as
  'declare found text; begin select t.name into strict found from hidden.town t; return found; end';
create function caught_place() returns text language plpgsql stable security definer as
  'begin return strict_place(); exception when no_data_found then return ''nowhere''; end';
create sequence ticket;
create function last_ticket() returns bigint language plpgsql stable security definer as 'begin return (select last_value from ticket); end';
create view first_ticket as select 1 as id, last_value from ticket;
comment on view first_ticket is '@graphql({"primary_key_columns": ["id"]})';
select lo_from_bytea(7, 'old');
create function large_object() returns text language plpgsql stable security definer as 'begin return convert_from(lo_get(7), ''UTF8''); end';
create function caught_object() returns text language plpgsql stable security definer as
  'begin return convert_from(lo_get(8), ''UTF8''); exception when undefined_object then return null; end';
create function caught_text(name text) returns text language plpgsql stable security definer as
  'declare found text; begin execute ''select name from '' || name into strict found; return found; exception when no_data_found then return null; end';
create view large_objects as select m.oid::text as id from pg_catalog.pg_largeobject_metadata m;
comment on view large_objects is '@graphql({"primary_key_columns": ["id"]})';
create materialized view total as select 1 as id, count(*) as count from animal;
comment on materialized view total is '@graphql({"primary_key_columns": ["id"]})';
create table person (id int primary key, lang text); insert into person values (1, 'en');
create table folder (id int primary key, parent_id int references folder, name text, size int);
insert into folder values (1, null, 'top', 0), (2, 1, 'mid', 0), (3, 2, 'low', 0);
create table page (id int primary key, text text, at point, during int4range);
comment on table page is '@graphql({"search": {"columns": {"text": "A"}, "config": "english"}})';
insert into page values (1, 'a running dog', '(0,0)', '[1,5)'), (2, 'a cat', '(5,5)', '[7,9)');
create table greeting (lang text primary key, text text); insert into greeting values ('en', 'hello');
create function greet(p person) returns text language sql stable as 'select g.text from greeting g where g.lang = p.lang';
grant select on all tables in schema public to authenticated;`;

const service = { role: 'service_role' };
const ada = { role: 'authenticated', claims: { sub: 'ada' } };

interface Way {
  readonly query: string;
  readonly caller?: typeof service | typeof ada;
  readonly before: unknown;
  readonly write: string;
  readonly after: unknown;
}

const edges = (...nodes: readonly object[]) => ({ edges: nodes.map((node) => ({ node })) });

const ways: Readonly<Record<string, Way>> = {
  'a function with the rights of its owner': {
    query: '{ definer_price }',
    before: { definer_price: 10 },
    write: 'update hidden.price set amount = 11',
    after: { definer_price: 11 },
  },
  'dynamic SQL': {
    query: '{ dynamic_price }',
    before: { dynamic_price: 11 },
    write: 'update hidden.price set amount = 12',
    after: { dynamic_price: 12 },
  },
  'a function that calls another': {
    query: '{ nested_price }',
    before: { nested_price: 24 },
    write: 'update hidden.price set amount = 13',
    after: { nested_price: 26 },
  },
  'a function with a body that PostgreSQL has parsed': {
    query: '{ standard_price }',
    before: { standard_price: 13 },
    write: 'update hidden.price set amount = 14',
    after: { standard_price: 14 },
  },
  'a function that reads another table once a row says so': {
    query: '{ sale_price }',
    before: { sale_price: 0 },
    write: "update hidden.flag set is_on = true where name = 'sale'",
    after: { sale_price: 14 },
  },
  'the other table, from then on': {
    query: '{ sale_price }',
    before: { sale_price: 14 },
    write: 'update hidden.price set amount = 15',
    after: { sale_price: 15 },
  },
  'a view': {
    query: '{ shownCollection { edges { node { amount } } } }',
    before: { shownCollection: edges({ amount: 15 }) },
    write: 'update hidden.price set amount = 16',
    after: { shownCollection: edges({ amount: 16 }) },
  },
  'a view of a view, and a function in it': {
    query: '{ over_viewCollection { edges { node { amount } } } }',
    before: { over_viewCollection: edges({ amount: 32 }) },
    write: 'update hidden.price set amount = 17',
    after: { over_viewCollection: edges({ amount: 34 }) },
  },
  'a policy whose table has policies of its own': {
    query: '{ clubCollection { edges { node { id } } } }',
    caller: ada,
    before: { clubCollection: edges({ id: 1 }) },
    write: "update hidden.flag set is_on = false where name = 'sale'",
    after: { clubCollection: edges() },
  },
  'a policy that calls a function': {
    query: '{ noteCollection { edges { node { id } } } }',
    caller: ada,
    before: { noteCollection: edges({ id: 1 }) },
    write: 'delete from hidden.member',
    after: { noteCollection: edges() },
  },
  'a partition': {
    query: '{ eventCollection { edges { node { id } } } }',
    before: { eventCollection: edges() },
    write: 'insert into event values (1, 1)',
    after: { eventCollection: edges({ id: 1 }) },
  },
  'a partition that is not exposed, written by its own name': {
    query: '{ eventCollection(orderBy: {id: AscNullsLast}) { edges { node { id } } } }',
    before: { eventCollection: edges({ id: 1 }) },
    write: 'insert into hidden.event_rest values (5, 5)',
    after: { eventCollection: edges({ id: 1 }, { id: 5 }) },
  },
  'a child table': {
    query: '{ animalCollection { edges { node { id } } } }',
    before: { animalCollection: edges() },
    write: 'insert into bird values (7)',
    after: { animalCollection: edges({ id: 7 }) },
  },
  'a materialized view that is refreshed': {
    query: '{ totalCollection { edges { node { count } } } }',
    before: { totalCollection: edges({ count: '0' }) },
    write: 'refresh materialized view total',
    after: { totalCollection: edges({ count: '1' }) },
  },
  'a function that catches the error of another': {
    query: '{ caught_place }',
    before: { caught_place: 'nowhere' },
    write: "insert into hidden.place values (1, 'here')",
    after: { caught_place: 'here' },
  },
  'a sequence that a function reads': {
    query: '{ last_ticket }',
    before: { last_ticket: '1' },
    write: "select setval('ticket', 5)",
    after: { last_ticket: '5' },
  },
  'a sequence that a view reads': {
    query: '{ first_ticketCollection { edges { node { last_value } } } }',
    before: { first_ticketCollection: edges({ last_value: '5' }) },
    write: "select setval('ticket', 6)",
    after: { first_ticketCollection: edges({ last_value: '6' }) },
  },
  'a large object': {
    query: '{ large_object }',
    before: { large_object: 'old' },
    write: "select lo_put(7, 0, 'new')",
    after: { large_object: 'new' },
  },
  'a view of a system catalog': {
    query: '{ large_objectsCollection { edges { node { id } } } }',
    before: { large_objectsCollection: edges({ id: '7' }) },
    write: 'select lo_unlink(7)',
    after: { large_objectsCollection: edges() },
  },
  'a computed field': {
    query: '{ personByPk(id: 1) { greet } }',
    before: { personByPk: { greet: 'hello' } },
    write: "update greeting set text = 'hi'",
    after: { personByPk: { greet: 'hi' } },
  },
  'all rows below one, and above one': {
    query: '{ folderByPk(id: 1) { descendants { edges { depth node { name ancestors { edges { node { name } } } } } } } }',
    before: {
      folderByPk: {
        descendants: {
          edges: [
            { depth: 1, node: { name: 'mid', ancestors: edges({ name: 'top' }) } },
            { depth: 2, node: { name: 'low', ancestors: edges({ name: 'mid' }, { name: 'top' }) } },
          ],
        },
      },
    },
    write: 'update folder set parent_id = 1 where id = 3',
    after: {
      folderByPk: {
        descendants: {
          edges: [
            { depth: 1, node: { name: 'mid', ancestors: edges({ name: 'top' }) } },
            { depth: 1, node: { name: 'low', ancestors: edges({ name: 'top' }) } },
          ],
        },
      },
    },
  },
  'a search': {
    query: '{ pageCollection(search: {text: "runs"}) { edges { node { id } } } }',
    before: { pageCollection: edges({ id: 1 }) },
    write: "update page set text = 'the cat runs' where id = 2",
    after: { pageCollection: edges({ id: 1 }, { id: 2 }) },
  },
  'the nearest rows': {
    query: '{ pageCollection(nearest: {at: {to: [0, 0]}}, first: 1) { edges { node { id } } } }',
    before: { pageCollection: edges({ id: 1 }) },
    write: "update page set at = '(9,9)' where id = 1",
    after: { pageCollection: edges({ id: 2 }) },
  },
  'ranges that contain a value': {
    query: '{ pageCollection(filter: {during: {containsElement: 3}}) { edges { node { id } } } }',
    before: { pageCollection: edges({ id: 1 }) },
    write: "update page set during = '[2,4]' where id = 2; update page set during = 'empty' where id = 1",
    after: { pageCollection: edges({ id: 2 }) },
  },
  truncate: {
    query: '{ animalCollection { edges { node { id } } } }',
    before: { animalCollection: edges({ id: 7 }) },
    write: 'truncate animal',
    after: { animalCollection: edges() },
  },
};

test('what no trace shows is found in the catalogs: behind a caught error, sequences, and where to look for catalogs', async () => {
  const { database, stop } = await startTestGraph(schemaSql);
  const opened = openPgDatabase(database.url, { poolSize: 1 });
  const idOf = async (text: string): Promise<number> => Number((await database.run(`select ${text}::oid::int8 as id`))[0]?.id);
  const relation = (name: string): Promise<number> => idOf(`'${name}'::regclass`);
  const caught = await loadDependencies(opened, [], [await idOf("'caught_place'::regproc")]);
  assert.ok(caught.isTraced && caught.relations.includes(await relation('hidden.place')));
  const object = await loadDependencies(opened, [], [await idOf("'caught_object'::regproc")]);
  assert.ok(object.relations.includes(await relation('pg_largeobject')));
  assert.deepEqual(caught.unannounced, []);
  const { unannounced } = await loadDependencies(opened, [], [await idOf("'caught_text'::regproc")]);
  assert.deepEqual(unannounced, ['the function caught_text(text), which may catch an error of SQL that it is given as text']);
  const strict = await loadDependencies(opened, [], [await idOf("'strict_place'::regproc")]);
  assert.deepEqual(strict.relations, [], 'its own trace shows it');
  const ticket = await loadDependencies(opened, [await relation('first_ticket')], []);
  assert.ok(ticket.relations.includes(await relation('ticket')));
  assert.ok((await loadDependencies(opened, [await relation('large_objects')], [])).isTraced);
  await opened.close();
  await stop();
});

/** Polling notices any change, so it tests answers, and notifications name the tables, so they test what an answer depends on. */
for (const mode of ['poll', 'notify'] as const) {
  describe(mode, () => {
    let tested: TestGraph;
    before(async () => {
      tested = await startTestGraph(schemaSql, { live: mode, liveInterval: 5 });
      if (mode === 'notify') await announceChanges(tested.database);
    });
    after(() => tested.stop());

    for (const [name, way] of Object.entries(ways)) {
      test(`${name}`, async () => {
        const answers = tested.graph.subscribe({ query: `subscription ${way.query}` }, way.caller ?? service);
        assert.deepEqual(await nextData(answers), way.before);
        await tested.database.run(way.write);
        await untilAnswer(answers, way.after);
        await answers.return?.();
      });
    }

    test('a partition that is attached while somebody subscribes, and written afterwards', async () => {
      await tested.database.run(
        'create table hidden.event_2 (id int not null, kind int not null); insert into hidden.event_2 values (2, 2)',
      );
      const query = 'subscription { eventCollection(filter: {kind: {eq: 2}}) { edges { node { id } } } }';
      const answers = tested.graph.subscribe({ query }, service);
      assert.deepEqual(await nextData(answers), { eventCollection: edges() });
      await tested.database.run('alter table event attach partition hidden.event_2 for values in (2)');
      await untilAnswer(answers, { eventCollection: edges({ id: 2 }) });
      await tested.database.run('update hidden.event_2 set id = 3');
      await untilAnswer(answers, { eventCollection: edges({ id: 3 }) });
      await answers.return?.();
    });
  });
}
