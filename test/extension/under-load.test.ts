/** The extension comes, is updated, and goes while requests never pause: none of them fails. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Event } from '../../src/events.ts';
import { currentVersion, extensionFiles } from '../../src/extension/extension-versions.ts';
import { createRowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

let databases: TestDatabases;
before(async () => {
  databases = await startTestDatabases({ extensionFiles: extensionFiles() });
});
after(() => databases.close());

const setup = `
  create table item (id serial primary key, note text);
  grant all on all sequences in schema public to anon, authenticated;
  insert into item (note) values ('first');
`;
const documents = [
  '{ itemCollection(first: 1) { edges { node { note } } } }',
  'mutation { insertIntoitemCollection(objects: [{note: "more"}]) { records { note } affectedCount } }',
  'mutation { updateitemCollection(set: {note: "first"}, filter: {id: {eq: 1}}) { affectedCount } }',
];
const steps = [
  'drop extension rowgraph',
  'create extension rowgraph',
  'begin; drop extension rowgraph; create extension rowgraph; commit',
  "begin; drop extension rowgraph; create extension rowgraph version '1.0'; commit",
  'alter extension rowgraph update',
  'alter table item add column if not exists extra int',
];
/** The place of the step that creates an old version. */
const outdating = 3;

test('create, drop and update under load: as many answers as requests, and no failure', async (context) => {
  const database = await databases.create(setup);
  await database.run('create extension rowgraph');
  const events: Event[] = [];
  const graph = await createRowgraph({ database: database.url, poolSize: 6, observe: (event) => void events.push(event) });
  const counts = { sent: 0, answered: 0, written: 0 };
  const failed: unknown[] = [];
  let isDone = false;
  const callers = ['anon', 'authenticated', 'anon', 'authenticated'].map(async (role, caller) => {
    for (let turn = caller; !isDone; turn++) {
      const query = documents[turn % documents.length]!;
      counts.sent += 1;
      const { errors } = await graph.execute({ query }, { role });
      if (errors === undefined) counts.answered += 1;
      else failed.push(...errors);
      if (errors === undefined && query.includes('insertInto')) counts.written += 1;
    }
  });
  const ddl = await database.connect();
  await until(() => counts.answered > 5 || failed.length > 0);
  for (let turn = 0; turn < 6 * steps.length; turn++) {
    await ddl.query(steps[turn % steps.length]!);
    const { answered } = counts;
    // The old version stays until a request has met it.
    const isMet = (): boolean => turn % steps.length !== outdating || events.some(({ kind }) => kind === 'extension-outdated');
    await until(() => (counts.answered > answered + 5 && isMet()) || failed.length > 0);
  }
  isDone = true;
  await Promise.all(callers);
  await graph.close();
  context.diagnostic(`${counts.sent} requests, ${counts.answered} answers, ${failed.length} failures, ${6 * steps.length} changes`);
  assert.deepEqual(failed, []);
  assert.equal(counts.answered, counts.sent);
  assert.deepEqual(await database.run("select count(*)::int from item where note = 'more'"), [{ count: counts.written }]);
  const outdated = events.filter(({ kind }) => kind === 'extension-outdated');
  assert.deepEqual(outdated, [{ kind: 'extension-outdated', installed: '1.0', current: currentVersion }], 'said once');
});
