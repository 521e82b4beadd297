/** Roles with equal privileges share a schema and its caches, but nothing that belongs to a single role. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../../../test/support/test-databases.ts';
import { type Limits, noLimits } from '../../budget/limits.ts';
import type { Database } from '../../database/database.ts';
import { openDatabase } from '../../database/open-database.ts';
import { readFingerprint } from '../../freshness/fingerprint.ts';
import { executeRequest } from '../handle.ts';
import { type CacheSizes, SchemaCacheUses } from './caches.ts';
import { OwnNames } from './role-standing.ts';
import { SchemaSnapshot } from './schema-snapshot.ts';

const caches: CacheSizes = {
  schemaBytes: 1e8,
  documents: 100,
  documentText: 100_000,
  variants: 10,
  variantText: 100_000,
  statements: 10,
  introspectionBytes: 10_000,
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const setup = `
  create type mood as enum ('calm', 'wild'); revoke usage on type mood from public;
  create table book (id int primary key, title text, feeling mood); insert into book values (1, 'one', 'calm');
  create table shelf (id int primary key, best book);
  create function count_books() returns int stable language sql as 'select 1'; revoke execute on function count_books() from public;
  create schema other; create table other.thing (id int primary key);
  create role reader; create role twin; grant usage on schema public to reader, twin; grant select on book to reader, twin;
  create role owner; create role heir in role reader; create role loner noinherit in role reader;
  grant all on book to owner;
`;

describe('roles', () => {
  let databases: TestDatabases;
  let run: TestDatabase['run'];
  let database: Database;
  let uses: SchemaCacheUses;

  before(async () => {
    databases = await startTestDatabases();
    const created = await databases.create(setup);
    run = created.run;
    const superuser = created.url.replace('authenticator', 'postgres');
    database = openDatabase(superuser, { poolSize: undefined, prepare: undefined, observe: () => {} });
  });
  after(async () => {
    await database.close();
    await databases.close();
  });

  async function load(limitsOf: (role: string) => Limits = () => noLimits, sizes = caches): Promise<SchemaSnapshot> {
    uses = new SchemaCacheUses();
    const schemas = ['public', 'other'];
    const stamp = { version: null, extension: null, changes: null, fingerprint: await readFingerprint(database, schemas) };
    const settings = {
      schemas,
      extraSearchPath: [],
      introspection: 'on',
      model: {},
      trustedRoles: [],
      caches: sizes,
      limitsOf,
      coercion: 'strict',
      noteMismatches: () => {},
      reportsCost: false,
      keyStore: { lifetime: 1000, maxBytes: Infinity },
      ownNames: new OwnNames(),
      mayUseKeys: () => true,
      requestSettings: [],
      requestHeaders: [],
      uses,
    } as const;
    return SchemaSnapshot.load(database, stamp, settings);
  }

  /** Loads roles, and returns them in groups that share a schema. */
  async function groupsOf(...roles: string[]): Promise<string[][]> {
    const snapshot = await load();
    const granted = await Promise.all(roles.map(async (role) => (await snapshot.of(role, database)).granted));
    return [...Map.groupBy(roles, (_, index) => granted[index]!).values()];
  }

  /** The text of the response, or the code of the error. */
  async function ask(snapshot: SchemaSnapshot, role: string, query: string, variables = {}): Promise<string> {
    const target = { database, caller: { role }, observe: () => {}, deadline: null, client: '', onPrepared: undefined };
    try {
      const { chunks } = await executeRequest(await snapshot.of(role, database), { query, variables }, target);
      return Buffer.concat(chunks).toString();
    } catch (error) {
      return (error as { code: string }).code;
    }
  }

  it('with equal privileges share a schema, however they got them', async () => {
    assert.deepEqual(await groupsOf('reader', 'twin', 'heir', 'loner', 'owner'), [['reader', 'twin', 'heir'], ['loner'], ['owner']]);
  });

  const differences: readonly [name: string, change: string, undo: string][] = [
    ['a grant on a table', 'grant insert on book to twin', 'revoke insert on book from twin'],
    ['a grant on a column', 'grant select (id) on shelf to twin', 'revoke select (id) on shelf from twin'],
    [
      'the right to call a function',
      'grant execute on function count_books() to twin',
      'revoke execute on function count_books() from twin',
    ],
    ['the right to use a schema', 'grant usage on schema other to twin', 'revoke usage on schema other from twin'],
    ['usage on an enum', 'grant usage on type mood to twin', 'revoke usage on type mood from twin'],
    ['a membership', 'grant owner to twin', 'revoke owner from twin'],
  ];
  for (const [name, change, undo] of differences) {
    it(`that differ in ${name} share none`, async () => {
      await run(change);
      assert.deepEqual(await groupsOf('reader', 'twin'), [['reader'], ['twin']]);
      await run(undo);
      assert.deepEqual(await groupsOf('reader', 'twin'), [['reader', 'twin']]);
    });
  }

  it('that share a schema have their own limits and settings', async () => {
    await run("alter role twin set work_mem = '7MB'; alter role heir superuser");
    const limits = { ...noLimits, fields: 7 };
    const snapshot = await load((role) => (role === 'twin' ? limits : noLimits));
    const [reader, twin, heir] = await Promise.all(['reader', 'twin', 'heir'].map(async (role) => await snapshot.of(role, database)));
    await run('alter role twin reset work_mem; alter role heir nosuperuser');
    assert.equal(reader!.granted, twin!.granted);
    assert.deepEqual([reader!.role.defaults.settings, twin!.role.defaults.settings], [[], [['work_mem', '7MB']]]);
    assert.deepEqual([reader!.role.limits, twin!.role.limits], [noLimits, limits]);
    assert.deepEqual([reader!.role.refusal, heir!.role.refusal !== null], [null, true]);
  });

  it('share documents, which are validated and compiled once', async () => {
    const snapshot = await load();
    for (const role of ['reader', 'twin', 'heir']) {
      assert.match(await ask(snapshot, role, '{ bookCollection { edges { node { title } } } }'), /"title":"one"/);
    }
    assert.deepEqual(snapshot.readCaches().slice(0, 3), [
      { name: 'schema', entries: 1, hits: 0, misses: 1 },
      { name: 'document', entries: 1, hits: 2, misses: 1 },
      { name: 'variant', entries: 1, hits: 2, misses: 1 },
    ]);
  });

  const limited: readonly [limits: Partial<Limits>, code: string, query: string][] = [
    [{ documentBytes: 40 }, 'DOCUMENT_TOO_LARGE', '{ bookCollection { edges { node { title } } } }'],
    [{ tokens: 10 }, 'TOO_MANY_TOKENS', '{ bookCollection { edges { node { title } } } }'],
    [{ operations: 1 }, 'TOO_MANY_OPERATIONS', 'query a { __typename } query b { __typename }'],
    [{ fields: 2 }, 'TOO_MANY_FIELDS', '{ bookCollection { edges { node { title } } } }'],
    [{ estimatedRows: 9 }, 'TOO_MANY_ESTIMATED_ROWS', '{ bookCollection { edges { node { title } } } }'],
  ];
  for (const [limits, code, query] of limited) {
    it(`that share a document have their own limits: ${code}`, async () => {
      const snapshot = await load((role) => (role === 'twin' ? { ...noLimits, ...limits } : noLimits));
      const expected = await ask(snapshot, 'reader', query);
      assert.equal(await ask(snapshot, 'twin', query), code);
      assert.equal(await ask(snapshot, 'reader', query), expected);
      assert.equal(await ask(snapshot, 'twin', query), code);
      assert.equal(snapshot.readCaches()[1]!.misses, 1);
    });
  }

  describe('whose schemas do not fit into the cache together', () => {
    const tight = { ...caches, schemaBytes: 300_000 };
    const rows = '{ bookCollection { edges { node { title } } } }';
    const misses = (snapshot: SchemaSnapshot) => snapshot.readCaches()[0]!.misses;

    before(async () => {
      const tables = Array.from({ length: 300 }, (_, index) => `create table wide_${index} (id int primary key);`);
      await run(`${tables.join(' ')} create role left_hand; create role right_hand; grant usage on schema public to left_hand, right_hand;
        grant select on all tables in schema public to left_hand, right_hand; grant insert on book to right_hand`);
    });

    it('keep their documents: compiled operations need no types', async () => {
      const snapshot = await load(undefined, tight);
      for (const role of ['left_hand', 'right_hand']) assert.match(await ask(snapshot, role, rows), /"title":"one"/);
      assert.equal(misses(snapshot), 2);
      for (const role of ['left_hand', 'right_hand', 'left_hand', 'right_hand'])
        assert.match(await ask(snapshot, role, rows), /"title":"one"/);
      assert.equal(misses(snapshot), 2);
      assert.match(await ask(snapshot, 'left_hand', '{ bookCollection { edges { node { id } } } }'), /"id":1/);
      assert.equal(misses(snapshot), 3);
    });

    it('build types again for a variant of a document that was not compiled before', async () => {
      const snapshot = await load(undefined, tight);
      const optional = 'query ($titled: Boolean!) { bookCollection { edges { node { id title @include(if: $titled) } } } }';
      assert.match(await ask(snapshot, 'left_hand', optional, { titled: false }), /"node":\{"id":1\}/);
      await ask(snapshot, 'right_hand', rows);
      assert.match(await ask(snapshot, 'left_hand', optional, { titled: true }), /"node":\{"id":1,"title":"one"\}/);
      assert.equal(misses(snapshot), 3);
    });

    it('evict types, and the documents that hold them', async () => {
      const snapshot = await load(undefined, tight);
      const held = 'query ($where: BookFilter) { bookCollection(filter: $where) { edges { node { id } } } }';
      const typesOf = async (role: string) => new WeakRef(await (await snapshot.of(role, database)).granted.types());
      for (const query of [rows, held]) await ask(snapshot, 'left_hand', query);
      const early = await typesOf('left_hand');
      await ask(snapshot, 'right_hand', rows);
      assert.equal((await snapshot.of('left_hand', database)).granted.documents.size, 1);
      for (let attempt = 0; attempt < 10 && early.deref() !== undefined; attempt++) {
        await setImmediate();
        collectGarbage();
      }
      // A failure that compared them would print all types.
      assert.ok(early.deref() === undefined, 'the types are still held');
    });
  });
});
