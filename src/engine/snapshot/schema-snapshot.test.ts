import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { startPglite } from '../../../test/support/pglite.ts';
import { noLimits } from '../../budget/limits.ts';
import type { Database } from '../../database/database.ts';
import { openDatabase } from '../../database/open-database.ts';
import { readFingerprint } from '../../freshness/fingerprint.ts';
import { executeRequest } from '../handle.ts';
import { SchemaCacheUses } from './caches.ts';
import type { RoleSchema } from './role-schema.ts';
import { OwnNames } from './role-standing.ts';
import { SchemaSnapshot, type SnapshotSettings } from './schema-snapshot.ts';

const settings: SnapshotSettings = {
  schemas: ['public'],
  extraSearchPath: [],
  introspection: 'on',
  model: {},
  trustedRoles: [],
  caches: {
    schemaBytes: 1e8,
    documents: 10,
    documentText: 10_000,
    variants: 10,
    variantText: 10_000,
    statements: 10,
    introspectionBytes: 10_000,
  },
  limitsOf: () => noLimits,
  coercion: 'strict',
  noteMismatches: () => {},
  reportsCost: false,
  keyStore: { lifetime: 1000, maxBytes: Infinity },
  ownNames: new OwnNames(),
  mayUseKeys: () => true,
  requestSettings: [],
  requestHeaders: [],
  uses: new SchemaCacheUses(),
};

describe('SchemaSnapshot', () => {
  let pglite: PGlite;
  let database: Database;

  before(async () => {
    pglite = await startPglite();
    await pglite.exec('create table open (id int primary key); create table secret (id int primary key); create role reader');
    await pglite.exec('grant usage on schema public to reader; grant select on open, secret to reader');
    database = openDatabase(pglite, { poolSize: undefined, prepare: undefined, observe: () => {} });
  });
  after(() => pglite.close());

  /** The root fields that introspection shows to a role. */
  async function shownFields(roleSchema: RoleSchema): Promise<string[]> {
    const request = { query: '{ __schema { queryType { fields { name } } } }' };
    const { chunks } = await executeRequest(roleSchema, request, {
      database,
      caller: { role: 'reader' },
      observe: () => {},
      deadline: null,
      client: '',
      onPrepared: undefined,
    });
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { __schema: { queryType: { fields: { name: string }[] } } } };
    return data.__schema.queryType.fields.map(({ name }) => name);
  }

  it("counts the entries of all roles' caches, and all lookups so far", async () => {
    const uses = new SchemaCacheUses();
    const stamp = { version: null, extension: null, changes: null, fingerprint: await readFingerprint(database, settings.schemas) };
    const ask = async (
      snapshot: SchemaSnapshot,
      first: number,
      query = 'query q($first: Int) { openCollection(first: $first) { edges { cursor } } }',
    ) => {
      const target = { database, caller: { role: 'reader' }, observe: () => {}, deadline: null, client: '', onPrepared: undefined };
      await executeRequest(await snapshot.of('reader', database), { query, variables: { first } }, target);
    };
    const earlier = await SchemaSnapshot.load(database, stamp, { ...settings, uses });
    assert.deepEqual(
      earlier.readCaches().map(({ entries }) => entries),
      [0, 0, 0, 0],
    );
    for (const first of [1, 2, 3]) await ask(earlier, first);
    await ask(earlier, 1, '{ __type(name: "Open") { name } }');
    await ask(earlier, 1, '{ __type(name: "Open") { name } }');
    assert.deepEqual(earlier.readCaches(), [
      { name: 'schema', entries: 1, hits: 3, misses: 1 },
      { name: 'document', entries: 2, hits: 3, misses: 2 },
      { name: 'variant', entries: 2, hits: 3, misses: 2 },
      { name: 'introspection', entries: 1, hits: 1, misses: 1 },
    ]);
    const later = await SchemaSnapshot.load(database, stamp, { ...settings, uses });
    await ask(later, 1);
    assert.deepEqual(later.readCaches()[1], { name: 'document', entries: 1, hits: 3, misses: 3 });
  });

  it('does not keep privileges that were read at another time than the catalog', async () => {
    const stamp = { version: null, extension: null, changes: null, fingerprint: await readFingerprint(database, settings.schemas) };
    const snapshot = await SchemaSnapshot.load(database, stamp, settings);
    await pglite.exec('create table other (id int)');
    const early = await snapshot.of('reader', database);
    assert.ok((await shownFields(early)).includes('secretCollection'));
    await pglite.exec('drop table other; revoke select on secret from reader');
    const late = await snapshot.of('reader', database);
    assert.notEqual(late, early);
    assert.ok(!(await shownFields(late)).includes('secretCollection'));
  });
});

it('a role whose policies change back has other prepared statements than before', () => {
  const names = new OwnNames();
  const nameOf = (policyRoles: string) => names.nameOf({ name: 'ada', policyRoles, assumable: true, isLogin: false, powers: [] });
  const [before, between, after] = ['f 1', 'f 1 2', 'f 1'].map(nameOf);
  assert.equal(new Set([before, between, after]).size, 3);
  assert.equal(nameOf('f 1'), after);
});
