/** Inputs of views have all columns, as in pg_graphql. A value for a column that the view computes is rejected with the reason; the doctor names such columns. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  started = await startTestGraph(`
    create table av (code int primary key, model jsonb, r int);
    insert into av values (1, '{"en": "one"}', 5);
    create view avv as select code, model ->> 'en' as model, r from av;
    create view outer_avv as select code, model, r from avv;
    create view own as select code, r from av;
    create view total as select r as code, count(*) as model from av group by r;
    create view written as select code, model, r from avv;
    create view half as select code, model, r from avv;
    create view calling as select code, model, r from avv;
    create function write_av() returns trigger language plpgsql as $$ begin
      insert into av values (new.code, jsonb_build_object('en', new.model), new.r) on conflict (code) do update set model = excluded.model, r = excluded.r; return new;
    end $$;
    create function write_avv() returns trigger language plpgsql as $$ begin update avv set model = new.model; return new; end $$;
    create trigger t instead of insert or update on written for each row execute function write_av();
    create trigger t instead of update on half for each row execute function write_av();
    create trigger t instead of update on calling for each row execute function write_avv();
    comment on view total is '@graphql({"primary_key_columns": ["code"]})';`);
});
after(() => started.stop());

async function errorOf(mutation: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { errors } = await started.graph.execute(
    { query: `mutation { changed: ${mutation} { affectedCount } }` },
    { role: 'service_role' },
  );
  return errors?.[0]?.extensions;
}

for (const view of ['avv', 'outer_avv']) {
  for (const mutation of [
    `update${view}Collection(set: {model: "x"})`,
    `update${view}Collection(set: {r: 6, model: null}, filter: {code: {eq: 1}})`,
    `insertInto${view}Collection(objects: [{code: 2, model: "x"}])`,
    `insertInto${view}Collection(objects: [{code: 2}, {code: 3, model: "x"}])`,
  ]) {
    test(mutation, async () => {
      const { code, sqlstate, hint, detail } = (await errorOf(mutation))!;
      const expected = 'The view computes this column, so that it cannot be written. Leave it out.';
      assert.deepEqual({ code, sqlstate, hint }, { code: 'BAD_USER_INPUT', sqlstate: '0A000', hint: expected });
      assert.match(String(detail), /^View columns that are not columns of their base relation are not updatable/);
    });
  }
}

test('without the column, the row is written', async () => {
  assert.equal(await errorOf('updateavvCollection(set: {r: 7})'), undefined);
  assert.equal(await errorOf('insertIntoouter_avvCollection(objects: [{code: 20, r: 7}])'), undefined);
  assert.equal(await errorOf('updatewrittenCollection(set: {model: "y"}, filter: {code: {eq: 20}})'), undefined);
  assert.equal(await errorOf('updatehalfCollection(set: {model: "z"}, filter: {code: {eq: 20}})'), undefined);
});

test("a trigger that assigns such a column is not the client's error", async () => {
  const { code, sqlstate } = (await errorOf('updatecallingCollection(set: {model: "y"}, filter: {code: {eq: 20}})'))!;
  assert.deepEqual([code, sqlstate], ['DATABASE_ERROR', '0A000']);
});

test('the doctor names the columns, and what fails', async () => {
  const { findings } = await started.graph.doctor({ role: 'service_role' });
  const told = findings.filter(({ code }) => code === 'read-only-column');
  assert.deepEqual(
    told.map(({ object, name, message }) => `${object} ${name}: ${message.slice(0, message.indexOf(' with'))}`),
    [
      'column public.avv.model: every insert and update',
      'column public.calling.model: every insert',
      'column public.half.model: every insert',
      'column public.outer_avv.model: every insert and update',
    ],
  );
  await started.database.run('revoke all on avv from anon; grant select, update (code, r), insert on avv to anon');
  const { findings: ofAnon } = await started.graph.doctor({ role: 'anon' });
  assert.match(ofAnon.find(({ code, name }) => code === 'read-only-column' && name === 'public.avv.model')!.message, /^every insert with /);
});
