/** PostgreSQL keeps the plans of prepared statements, with the policies of a role, when what the role is a member of changes. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from 'pg';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { until } from '../support/until.ts';

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

const papersNow = async (first = 10): Promise<number> => {
  const query = `{ paperCollection(first: ${first}) { edges { node { id } } } }`;
  const { data, errors } = await tested.graph.execute({ query }, { role: 'volunteer' });
  assert.equal(errors, undefined);
  return (data as { paperCollection: { edges: unknown[] } }).paperCollection.edges.length;
};

const papers = async (): Promise<number> => {
  await tested.graph.reload();
  return papersNow();
};

const changes = [
  ['grant staff to volunteer', 'revoke staff from volunteer'],
  ['alter role volunteer bypassrls', 'alter role volunteer nobypassrls'],
] as const;

for (const [begin, end] of changes) {
  test(`a statement that is prepared forgets the policies before ${begin}, and before ${end}`, async () => {
    assert.equal(await papers(), 0);
    await tested.database.run(begin);
    assert.equal(await papers(), 1);
    await tested.database.run(end);
    assert.equal(await papers(), 0);
  });
}

for (const [index, [begin, end]] of changes.entries()) {
  test(`a statement that is planned between ${begin} and ${end} is not used afterwards`, async (context) => {
    if (tested.database.version < 15) return context.skip('PostgreSQL 14 does not say that anything was changed and undone');
    const first = 20 + index;
    const session: Client = await tested.database.connect();
    await session.query(begin);
    const between = await papersNow(first);
    await session.query(end);
    await session.end();
    await until(async () => (await papersNow(first)) === 0);
    assert.equal(between, 1);
  });
}
