/**
 * A rolling upgrade: this version serves with each older version of the extension, beside a server that was there before, and both go on when
 * somebody updates it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  currentVersion,
  extensionFiles,
  extensionVersions,
  firstVersionWithKeys,
  isOlder,
} from '../../src/extension/extension-versions.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';

let databases: TestDatabases;
before(async () => {
  databases = await startTestDatabases({ extensionFiles: extensionFiles() });
});
after(() => databases.close());

const anon = { role: 'anon' };
const insert = 'mutation { insertIntonoteCollection(objects: [{text: "new"}]) { affectedCount } }';

describe('with the extension of version', () => {
  for (const { version } of extensionVersions) {
    test(version, async () => {
      const database = await databases.create(`create table note (id serial primary key, text text);
        grant all on all sequences in schema public to anon`);
      await database.run(`create extension rowgraph version '${version}'`);
      const open = () => createRowgraph({ database: database.url, poolSize: 2, idempotencyKeyRoles: ['anon'] });
      const graphs = [await open(), await open()];
      const read = (graph: Rowgraph, field: string) =>
        graph.execute({ query: `{ noteCollection(orderBy: {id: AscNullsLast}) { edges { node { ${field} } } } }` }, anon);
      const write = (graph: Rowgraph, key: string) => graph.execute({ query: insert, extensions: { idempotencyKey: key } }, anon);
      /** Both see a column as soon as it is there, and a key counts for both. */
      const check = async (column: string, hasKeys: boolean): Promise<void> => {
        await database.run(`alter table note add ${column} int default 1`);
        for (const graph of graphs) assert.equal((await read(graph, column)).errors, undefined);
        const [{ count: before } = {}] = await database.run('select count(*)::int from note');
        for (const graph of graphs) {
          const { errors } = await write(graph, column);
          assert.equal(errors?.[0]?.extensions?.code, hasKeys ? undefined : 'IDEMPOTENCY_NOT_SUPPORTED');
        }
        const [{ count } = {}] = await database.run('select count(*)::int from note');
        assert.equal(count, (before as number) + (hasKeys ? 1 : 0));
      };
      await check('first', !isOlder(version, firstVersionWithKeys));
      await database.run('alter extension rowgraph update');
      assert.deepEqual(await database.run("select extversion from pg_extension where extname = 'rowgraph'"), [
        { extversion: currentVersion },
      ]);
      await check('second', true);
      for (const graph of graphs) await graph.close();
    });
  }
});
