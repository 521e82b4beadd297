/** Updates and deletes of more rows than `atMost` allows stop at the first row too many, and those within it change every row. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  started = await startTestGraph(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table crate (id int primary key, kind text not null);
    create table bottle (id int primary key, crate_id int references crate on delete cascade, kind text not null, label text);
    insert into crate select n, 'full' from generate_series(1, 3) as n;
    insert into bottle select n, 1 + n % 3, 'full' from generate_series(1, 900) as n;
    -- What a sequence has counted survives a rollback.
    create sequence touched;
    create function touch() returns trigger language plpgsql as $$
      begin perform nextval('touched'); return case tg_op when 'DELETE' then old else new end; end $$;
    create trigger touch before update or delete on bottle for each row execute function touch();
    create function rows_touched() returns bigint volatile language sql as $$
      select case when is_called then last_value else 0 end from touched $$;`);
});
after(() => started.stop());

const tooMany = /impacts too many records/;

/** Runs a mutation that is refused; resolves to the number of rows that PostgreSQL had begun to change. */
async function touchedBy(mutation: string): Promise<number> {
  const touched = async (): Promise<number> =>
    Number(((await started.ask('mutation { rowsTouched }')) as { rowsTouched: string }).rowsTouched);
  const earlier = await touched();
  await assert.rejects(started.ask(mutation), tooMany);
  return (await touched()) - earlier;
}

test('an update or delete of a whole table stops at the first row too many', async () => {
  const isFull = 'filter: {kind: {eq: "full"}}';
  for (const [mutation, rows] of [
    [`updateBottleCollection(set: {kind: "empty"}, ${isFull}) { affectedCount }`, 2],
    [`updateBottleCollection(set: {kind: "empty"}, ${isFull}, atMost: 30) { records { id kind crate { kind } } }`, 31],
    [`updateBottleCollection(set: {kind: "empty"}, atMost: 0) { affectedCount }`, 1],
    [`deleteFromBottleCollection(${isFull}, atMost: 5) { records { id } edges { cursor } }`, 6],
    [`updateBottleCollection(set: {kind: "empty", crate: {create: {id: 9, kind: "new"}}}, ${isFull}, atMost: 7) { affectedCount }`, 0],
  ] as const)
    assert.equal(await touchedBy(`mutation { ${mutation} }`), rows, mutation);
});

test('a nested update of related rows stops, too', async () => {
  const update = 'update: [{filter: {kind: {eq: "full"}}, set: {label: "cheap"}, atMost: 4}]';
  const mutation = `mutation { updateCrateCollection(set: {bottleCollection: {${update}}}, filter: {id: {eq: 1}}) { affectedCount } }`;
  assert.equal(await touchedBy(mutation), 5);
});

test('each root field counts its own rows', async () => {
  const change = (from: number, to: number): string => `filter: {id: {gte: ${from}, lte: ${to}}}, atMost: 3`;
  assert.deepEqual(
    await started.ask(`mutation {
      first: updateBottleCollection(set: {label: "a"}, ${change(1, 3)}) { affectedCount records { id } }
      second: updateBottleCollection(set: {label: "b"}, ${change(2, 4)}) { affectedCount edges { node { label } } }
      third: deleteFromBottleCollection(${change(1, 2)}) { affectedCount }
      fourth: updateBottleCollection(set: {label: "c"}, filter: {id: {gte: 7, lte: 8}}, atMost: 2) { __typename }
      fifth: updateBottleCollection(set: {label: "d"}, filter: {id: {gte: 5, lte: 7}}, atMost: 3) { affectedCount }
    }`),
    {
      first: { affectedCount: 3, records: [{ id: 1 }, { id: 2 }, { id: 3 }] },
      second: { affectedCount: 3, edges: [{ node: { label: 'b' } }, { node: { label: 'b' } }, { node: { label: 'b' } }] },
      third: { affectedCount: 2 },
      fourth: { __typename: 'BottleUpdateResponse' },
      fifth: { affectedCount: 3 },
    },
  );
});
