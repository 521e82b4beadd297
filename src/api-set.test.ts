import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { startPglite } from '../test/support/pglite.ts';
import { ApiSet, type ApiSettings } from './api-set.ts';
import { readFingerprint } from './catalog/read-fingerprint.ts';
import type { Database } from './database/database.ts';
import { openDatabase } from './database/open-database.ts';
import { type Api, answerRequest } from './pipeline.ts';

const settings: ApiSettings = {
  schemas: ['public'],
  introspection: 'on',
  caches: { documents: 10, documentText: 10_000, shapes: 10, introspectionBytes: 10_000 },
};

describe('ApiSet', () => {
  let pglite: PGlite;
  let database: Database;

  before(async () => {
    pglite = await startPglite();
    await pglite.exec('create table open (id int primary key); create table secret (id int primary key); create role reader');
    await pglite.exec('grant usage on schema public to reader; grant select on open, secret to reader');
    database = openDatabase(pglite, { poolSize: undefined, prepare: undefined, observe: () => {} });
  });
  after(() => pglite.close());

  /** The root fields that a role is told of. */
  async function toldFields(api: Api): Promise<string[]> {
    const request = { query: '{ __schema { queryType { fields { name } } } }' };
    const { chunks } = await answerRequest(api, settings.caches, request, { database, caller: { role: 'reader' }, observe: () => {} });
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { __schema: { queryType: { fields: { name: string }[] } } } };
    return data.__schema.queryType.fields.map(({ name }) => name);
  }

  it('tells nothing of privileges that were read at another time than the catalog', async () => {
    const stamp = { version: null, fingerprint: await readFingerprint(database, settings.schemas) };
    const apis = await ApiSet.load(database, stamp, settings);
    await pglite.exec('create table other (id int)');
    const early = await apis.of('reader', database);
    assert.ok((await toldFields(early)).includes('secretCollection'));
    await pglite.exec('drop table other; revoke select on secret from reader');
    const late = await apis.of('reader', database);
    assert.notEqual(late, early);
    assert.ok(!(await toldFields(late)).includes('secretCollection'));
  });
});
