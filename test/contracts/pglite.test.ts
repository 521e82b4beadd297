/** What rowgraph needs of PGlite and pglite-socket beyond their documentation. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { types } from '@electric-sql/pglite';
import { openClientDatabase } from '../../src/database/client-database.ts';
import { type Pglite, parsedTypes } from '../../src/database/pglite-database.ts';
import { encodeScript } from '../../src/database/wire/encode-batch.ts';
import { startPglite } from '../support/pglite.ts';
import { contract } from './contract.ts';

let pglite: PGlite;
before(async () => {
  pglite = await startPglite();
});
after(() => pglite.close());

const library = '@electric-sql/pglite';

contract(library, 'database/pglite-database.ts', 'its two locks keep queries and transactions away', async () => {
  const done: string[] = [];
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const ours = (pglite as Pglite)._runExclusiveTransaction(() =>
    (pglite as Pglite)._runExclusiveQuery(async () => {
      await held;
      await pglite.execProtocol(encodeScript('select 1'));
      done.push('ours');
    }),
  );
  const others = [
    pglite.query('select 1').then(() => done.push('query')),
    pglite.transaction((transaction) => transaction.query('select 1')).then(() => done.push('transaction')),
  ];
  letGo();
  await Promise.all([ours, ...others]);
  assert.deepEqual([done[0], done.slice(1).sort()], ['ours', ['query', 'transaction']]);
});

contract(library, 'database/pglite-database.ts', 'a reply is messages of these names, an error among them', async () => {
  const send = async (text: string) => (await pglite.execProtocol(encodeScript(text), { throwOnError: false })).messages;
  const rows = await send("values ('a', null), ('b', 'c')");
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['rowDescription', 'dataRow', 'dataRow', 'commandComplete', 'readyForQuery'],
  );
  assert.deepEqual((rows[1] as unknown as { fields: unknown }).fields, ['a', null]);
  assert.deepEqual(
    (await send('')).map(({ name }) => name),
    ['emptyQuery', 'readyForQuery'],
  );
  const error = (await send("do $$ begin raise 'no' using detail = 'why', hint = 'how', errcode = '23514', constraint = 'c'; end $$"))[0]!;
  const { name, severity, code, detail, hint, constraint, where } = error as unknown as Record<string, string>;
  assert.deepEqual([name, severity, code, detail, hint, constraint], ['error', 'ERROR', '23514', 'why', 'how', 'c']);
  assert.match(where!, /^PL\/pgSQL function /);
});

contract(library, 'extension/pglite-extension.ts', 'its file system is within reach, with the folder of its extensions', () => {
  const { FS } = (pglite as unknown as { Module: { FS: { readdir(path: string): string[] } } }).Module;
  assert.ok(FS.readdir('/pglite/share/postgresql/extension').includes('plpgsql.control'));
});

contract(library, 'database/pglite-database.ts', 'it knows of a transaction that messages have opened', async () => {
  await pglite.execProtocol(encodeScript('begin'));
  assert.equal(pglite.isInTransaction(), true);
  await pglite.execProtocol(encodeScript('rollback'));
  assert.equal(pglite.isInTransaction(), false);
});

contract(library, 'database/pglite-database.ts', 'these are the types whose values it changes', () => {
  const parsers = Object.keys(types.parsers).map(Number).filter(Number.isInteger);
  const texts = [types.TEXT, types.BPCHAR, types.VARCHAR] as number[];
  assert.deepEqual(
    parsers.filter((type) => !texts.includes(type)).sort((one, other) => one - other),
    [...parsedTypes],
  );
});

contract(library, 'database/pglite-database.ts', 'it looks serializers up by type, and parsers, so that values stay text', async () => {
  const values = ['{"a": 1.10}', 't', '9007199254740993', '1.50', '2024-01-01', '\\x00ff', '{1,2}'];
  const casts = ['json', 'bool', 'int8', 'numeric', 'date', 'bytea', 'int[]::text'];
  const columns = casts.map((cast, index) => `$${index + 1}::${cast}`).join();
  assert.deepEqual(await openClientDatabase(pglite).query(`select ${columns}`, values), [values]);
});
