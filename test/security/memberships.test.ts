/** PostgreSQL keeps the plans of prepared statements, with the policies of a role, when what the role is a member of changes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

let tested: TestGraph;
before(async () => {
  tested = await startTestGraph(
    `create role staff; create role volunteer; grant volunteer to authenticator; create table paper (id int primary key); insert into paper values (1);
    alter table paper enable row level security; create policy staff on paper for select to staff using (true);
    grant usage on schema public to volunteer; grant select on paper to volunteer`,
    { poolSize: 1 },
  );
});
after(() => tested.stop());

const papers = async (): Promise<number> => {
  await tested.graph.reload();
  const { data, errors } = await tested.graph.execute({ query: '{ paperCollection { edges { node { id } } } }' }, { role: 'volunteer' });
  assert.equal(errors, undefined);
  return (data as { paperCollection: { edges: unknown[] } }).paperCollection.edges.length;
};

for (const [begin, end] of [
  ['grant staff to volunteer', 'revoke staff from volunteer'],
  ['alter role volunteer bypassrls', 'alter role volunteer nobypassrls'],
] as const) {
  test(`a statement that is prepared forgets the policies before ${begin}, and before ${end}`, async () => {
    assert.equal(await papers(), 0);
    await tested.database.run(begin);
    assert.equal(await papers(), 1);
    await tested.database.run(end);
    assert.equal(await papers(), 0);
  });
}
