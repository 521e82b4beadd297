/** `rowgraph cost` as a process of its own, with a database and without. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, type Outcome, removeFolder, runCommand } from './run-command.ts';

const document =
  'query blogs($n: Int) { blogCollection(first: $n) { edges { node { ...b } } } } query one { __typename } fragment b on Blog { id name }';

describe('rowgraph cost', () => {
  let home: string;
  let databases: TestDatabases;
  let database: TestDatabase;
  let file: string;

  before(async () => {
    home = await makeFolder();
    file = path.join(home, 'blogs.graphql');
    await writeFile(file, document);
    databases = await startTestDatabases();
    database = await databases.create(
      'create table blog (id int primary key, name text); comment on schema public is \'@graphql({"inflect_names": true})\';',
    );
  });

  after(async () => {
    await databases.close();
    await removeFolder(home);
  });

  const cost = (...flags: string[]): Promise<Outcome> => runCommand(['cost', file, ...flags], { home });

  it('says what is wrong with the database', async () => {
    const { code, stderr } = await cost('--database-url', database.url, '--role', 'nobody');
    assert.deepEqual([code, stderr.startsWith('rowgraph: --role: the role "nobody" does not exist')], [2, true], stderr);
  });

  it('takes the document itself as well, and says what is wrong with it', async () => {
    const { code, stdout } = await runCommand(['cost', '{ blogCollection(first: 3) { edges { node { id } } } }'], { home });
    assert.deepEqual([code, stdout.includes('depth')], [0, true], stdout);
    const wrong = await runCommand(['cost', '{ blogCollection('], { home });
    assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
    assert.match(wrong.stderr, /^rowgraph: .*Syntax Error[^\n]*\n$/);
  });

  it('prints what each operation counts, as far as the text tells', async () => {
    const { code, stdout, stderr } = await cost();
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^blogs\n +limit +count +maximum\n/);
    assert.match(stdout, /\n +fields +5 +5,000\n/);
    assert.match(
      stdout,
      /\n +estimatedRows +- +100,000\n +responseBytes +- +33,554,432\n +idempotencyBytes +- +16,777,216\n +subscriptions +- +1,000\n\none\n/,
    );
  });

  it('counts rows with a database, by the values of variables', async () => {
    const flags = ['--database-url', database.url, '--operation', 'blogs', '--variables', '{"n": 20}', '--limit-estimated-rows', '9'];
    const { code, stdout, stderr } = await cost(...flags);
    assert.match(stdout, /\n +estimatedRows +20 +9 {2}over the limit\n/);
    assert.deepEqual([code, stderr], [1, 'rowgraph: 1 of 1 operations would be rejected\n']);
    const json = await cost(...flags, '--limit-estimated-rows', 'off', '--json');
    assert.equal(json.code, 0, json.stderr);
    const { operations, limits } = JSON.parse(json.stdout);
    assert.deepEqual([operations[0].operation, operations[0].counts.estimatedRows, limits.estimatedRows], ['blogs', 20, null]);
  });

  it('says what is wrong with what it was given', async () => {
    const wrong: [string[], RegExp][] = [
      [['--variables', '[]'], /--variables must be a JSON object/],
      [['--operation', 'none'], /contains no such operation/],
      [['--limit-fields', '0'], /--limit-fields must be a whole number of at least 1, or off \(it is "0"\)/],
    ];
    for (const [flags, message] of wrong) {
      const { code, stderr } = await cost(...flags);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
    await writeFile(path.join(home, 'wrong.graphql'), '{');
    const { code, stderr } = await runCommand(['cost', path.join(home, 'wrong.graphql')], { home });
    assert.deepEqual([code, stderr], [2, 'rowgraph: line 1, column 2: Syntax Error: Expected Name, found <EOF>.\n']);
  });
});
