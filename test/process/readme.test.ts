/** The tour of the README: each request, asked in its order by whom it says, has the response that stands below it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { roleStatements } from '../../src/cli/role-statements.ts';
import { type Caller, createRowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string): Promise<string> => readFile(new URL(file, root), 'utf8');

const callers: Readonly<Record<string, Caller>> = {
  anon: { role: 'anon' },
  Ada: { role: 'authenticated', claims: { sub: '00000000-0000-4000-8000-000000000001' } },
};

test('the requests of the README have the responses that it shows', async (context) => {
  const steps = [...(await read('README.md')).matchAll(/<!-- asked by (\w+) -->\n```graphql\n([\s\S]*?)```\n```json\n([\s\S]*?)```/g)];
  assert.ok(steps.length >= 5, String(steps.length));
  const pglite = await startPglite();
  context.after(() => pglite.close());
  await pglite.exec(roleStatements({ schemas: ['public'], anonRole: 'anon' }));
  for (const file of ['schema.sql', 'data.sql']) await pglite.exec(await read(`examples/bird-club/${file}`));
  const graph = await createRowgraph({ database: pglite });
  context.after(() => graph.close());
  for (const [, name = '', query = '', answer = ''] of steps) {
    const caller = callers[name];
    assert.ok(caller, `README.md: nobody is called ${name}`);
    // As text: the order of the keys counts.
    assert.equal(JSON.stringify(await graph.execute({ query }, caller)), JSON.stringify(JSON.parse(answer)), query);
  }
});
