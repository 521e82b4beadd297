/** A thousand roles with ten sets of privileges cost as much as ten roles. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRowgraph } from '../src/index.ts';
import { startTestDatabases } from './support/test-databases.ts';

const sets = 10;
const count = 1000;
const roles = Array.from({ length: count }, (_, index) => `role_${index}`);
const setup = [
  ...Array.from(
    { length: sets },
    (_, index) => `create role set_${index}; create table t_${index} (id int primary key); revoke all on t_${index} from public, anon;
      grant usage on schema public to set_${index}; grant select on t_${index} to set_${index};`,
  ),
  ...roles.map((role, index) => `create role ${role} in role set_${index % sets}; grant ${role} to authenticator;`),
].join('\n');

test('a thousand roles need one schema per set of privileges', async () => {
  const databases = await startTestDatabases();
  const { url } = await databases.create(setup);
  const graph = await createRowgraph({ database: url });
  try {
    const ask = async (index: number, table: number): Promise<unknown> => {
      const { data, errors } = await graph.execute(
        { query: `{ t_${table}Collection { edges { node { id } } } }` },
        { role: `role_${index}` },
      );
      return data ?? errors?.[0]?.extensions.code;
    };
    for (let start = 0; start < count; start += 50) {
      const some = Array.from({ length: 50 }, (_, index) => start + index);
      assert.deepEqual(
        await Promise.all(some.map((index) => ask(index, index % sets))),
        some.map((index) => ({ [`t_${index % sets}Collection`]: { edges: [] } })),
      );
    }
    for (let index = 0; index < 20; index++) assert.equal(await ask(index, (index + 1) % sets), 'GRAPHQL_VALIDATION_FAILED');
    const caches = new Map(graph.readCaches().map((cache) => [cache.name, cache]));
    assert.deepEqual([caches.get('schema')?.entries, caches.get('schema')?.misses], [sets, sets]);
    assert.deepEqual([caches.get('document')?.entries, caches.get('variant')?.misses], [sets, sets]);
  } finally {
    await graph.close();
    await databases.close();
  }
});
