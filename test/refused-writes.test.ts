/** The doctor names the mutations that PostgreSQL rejects because of rules, and no others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

/** Tables with one rule each, and the mutations that it rejects. */
const tables: readonly { readonly name: string; readonly rule: string; readonly refused: readonly string[] }[] = [
  { name: 'plain', rule: '', refused: [] },
  { name: 'also_inserted', rule: 'on insert to also_inserted do also insert into log values (new.v)', refused: ['insert many'] },
  {
    name: 'also_updated',
    rule: 'on update to also_updated do also insert into log values (new.v)',
    refused: ['update one', 'update many'],
  },
  { name: 'also_deleted', rule: 'on delete to also_deleted where old.v > 99 do also insert into log values (old.v)', refused: ['delete'] },
  { name: 'kept', rule: 'on delete to kept do instead nothing', refused: ['delete'] },
  { name: 'closed', rule: 'on insert to closed do instead nothing', refused: ['insert one', 'insert many'] },
  { name: 'sometimes', rule: 'on update to sometimes where new.v > 99 do instead nothing', refused: ['update one', 'update many'] },
  { name: 'silent', rule: 'on update to silent do instead update log set v = new.v', refused: ['update one', 'update many'] },
  { name: 'told', rule: 'on update to told do instead update log set v = new.v where v = old.v returning v, v', refused: [] },
  {
    name: 'twice',
    rule: 'on delete to twice do instead (delete from log where v = old.v; delete from log where v = old.v returning v, v)',
    refused: ['delete'],
  },
  { name: 'off', rule: 'on update to off do instead nothing; alter table off disable rule r', refused: [] },
];

const schemaSql = `comment on schema public is '@graphql({"inflect_names": true})'; create table log (v int); insert into log select generate_series(1, 4);
${tables
  .map(({ name, rule }) => {
    const made = `create table ${name} (id int primary key, v int); insert into ${name} select n, n from generate_series(1, 4) as n;`;
    return `${made} ${rule && `create rule r as ${rule};`}`;
  })
  .join('\n')}
create view seen as select * from plain; create rule r as on update to seen do instead nothing; comment on view seen is '@graphql({"primary_key_columns": ["id"]})';`;

let database: TestGraph;
before(async () => {
  database = await startTestGraph(schemaSql);
});
after(() => database.stop());

for (const { name, refused } of tables) {
  test(`a rule rejects ${refused.join(' and ') || 'nothing'}: ${name}`, async () => {
    const type = name.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
    const mutations = {
      'insert one': `insertInto${type}Collection(objects: [{id: 7, v: 7}])`,
      'insert many': `insertInto${type}Collection(objects: [{id: 8, v: 8}, {id: 9, v: 9}])`,
      'update one': `update${type}Collection(set: {v: 5}, filter: {id: {eq: 1}})`,
      'update many': `update${type}Collection(set: {v: 5}, atMost: 20)`,
      delete: `deleteFrom${type}Collection(atMost: 20)`,
    };
    const failed: string[] = [];
    for (const [verb, mutation] of Object.entries(mutations)) {
      const { errors } = await database.graph.execute({ query: `mutation { ${mutation} { affectedCount } }` }, { role: 'service_role' });
      if (errors) failed.push(verb);
      if (errors) assert.deepEqual(errors[0]!.extensions?.sqlstate, '0A000', errors[0]!.message);
    }
    assert.deepEqual(failed, refused);
    const { findings } = await database.graph.doctor({ role: 'service_role' });
    const told = findings.filter(({ code, name: object }) => code === 'write-fails' && object === `public.${name}`);
    assert.deepEqual(
      told.map(({ message }) => /^every (\w+)/.exec(message)?.[1]),
      [...new Set(refused.map((verb) => verb.split(' ')[0]))],
    );
  });
}

test('a rule on a view is reported, too', async () => {
  const { findings } = await database.graph.doctor({ role: 'service_role' });
  const { message, remedy } = findings.find(({ name, code }) => code === 'write-fails' && name === 'public.seen')!;
  assert.match(message, /^every update fails because of the rule "r": /);
  assert.equal(remedy, null);
});

test('mutations that the role may not run are not reported', async () => {
  await database.database.run('revoke delete on kept from anon');
  await database.graph.reload();
  const { findings } = await database.graph.doctor({ role: 'anon' });
  assert.ok(findings.some(({ name, code }) => code === 'write-fails' && name === 'public.also_deleted'));
  assert.ok(!findings.some(({ name, code }) => code === 'write-fails' && name === 'public.kept'));
});
