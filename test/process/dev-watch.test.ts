/** `rowgraph dev --sql FILE --watch`: what is saved is served, and what fails leaves the database as it was. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { removeFolder } from './run-command.ts';
import { ask, askBackend, makeDevFolder, type Printed, startDev } from './start-dev.ts';

let home: string;
let dev: Printed;

const save = (text: string): Promise<void> => writeFile(path.join(home, 'shop.sql'), text);
const again = /^Loaded shop\.sql again; the API follows\.$/gm;
const drinks = '{ drinkCollection { edges { node { name } } } }';
const answer = (name: string) => ({ drinkCollection: { edges: [{ node: { name } }] } });

before(async () => {
  home = await makeDevFolder();
  await save("create table drink (id int primary key, name text); insert into drink values (1, 'Tea');");
  dev = await startDev(home, '--sql', 'shop.sql', '--watch');
});
after(async () => {
  await dev?.command.stop();
  await removeFolder(home);
});

test('a saved file is loaded into a new database, which the API, the page and psql have at once; keys stay valid', async () => {
  const waiting = new pg.Client(dev.facts['DB URL'] ?? '');
  waiting.on('error', () => undefined);
  await waiting.connect();
  await waiting.query('begin; update drink set id = 2');
  const { answer: version } = await askBackend(dev, 'schema', {});
  await save(`create table drink (id int primary key, name text); insert into drink values (1, 'Coffee');
    create table users (id int primary key, name text); insert into users values (7, 'Ada');`);
  await dev.command.waitFor(again, 'stderr');
  assert.deepEqual((await ask(dev, drinks)).data, answer('Coffee'));
  assert.deepEqual(((await askBackend(dev, 'callers', {})).answer as { users: unknown }).users, [{ id: '7', label: 'Ada' }]);
  assert.notDeepEqual((await askBackend(dev, 'schema', {})).answer, version);
  const explained = await askBackend(dev, 'explain', { role: 'anon', query: '{ usersCollection { edges { cursor } } }' });
  assert.equal(explained.status, 200);
  const client = new pg.Client(dev.facts['DB URL'] ?? '');
  await client.connect();
  assert.deepEqual((await client.query('select name from users')).rows, [{ name: 'Ada' }]);
  await client.query('create table glass (id int primary key)');
  await client.end();
  assert.deepEqual((await ask(dev, '{ glassCollection { edges { cursor } } }')).data, { glassCollection: { edges: [] } });
});

test('an error in the SQL is printed once, and the old database stays until the file is mended', async () => {
  await save('create table drink (id int primary key);\ncreate table wrong (id itn);');
  const written = await dev.command.waitFor(/^The database and the API stay as they were\.$/m, 'stderr');
  assert.match(written, /^rowgraph: shop\.sql:2: type "itn" does not exist$/m);
  assert.deepEqual((await ask(dev, drinks)).data, answer('Coffee'));
  await save("create table drink (id int primary key, name text); insert into drink values (1, 'Water');");
  const all = await dev.command.waitFor(/(the API follows[\s\S]*){2}/, 'stderr');
  assert.equal(all.match(/type "itn"/g)?.length, 1);
  assert.deepEqual((await ask(dev, drinks)).data, answer('Water'));
});

test('it ends at once', async () => {
  assert.equal((await dev.command.stop()).code, 0);
});
