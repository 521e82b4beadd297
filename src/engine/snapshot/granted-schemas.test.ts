import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LRUCache } from 'lru-cache';
import { CacheUse } from './caches.ts';
import { estimateTypes, GrantedSchemas, type PrivilegeSet, type SchemaMaker } from './granted-schemas.ts';
import type { CachedDocument, GrantedSchema, SchemaTypes } from './role-schema.ts';

/** Types over this many tables, all filled in. */
const typesOf = (tables: number) => {
  const model = { tables: [], routines: [], countBuilt: () => tables };
  return { model, schema: { countBuilt: () => 0 } } as unknown as SchemaTypes;
};
const bytesOfTable = estimateTypes(typesOf(1));
/** The text of a document that takes about as many bytes as this many tables. */
const textOf = (tables: number) => 'x'.repeat((tables * bytesOfTable) / 40);

/** Schemas limited to the bytes of this many tables. The privileges of a schema are the number of its tables. */
function start(tables: number, makeTypes?: SchemaMaker['makeTypes']) {
  const made: string[] = [];
  const use = new CacheUse('schema');
  const schemas = new GrantedSchemas(tables * bytesOfTable, use, {
    makeTypes:
      makeTypes ??
      (async (privileges) => {
        made.push(privileges);
        return typesOf(Number.parseInt(privileges, 10));
      }),
    makeCaches: (types) =>
      ({
        ...types,
        documents: new LRUCache({ max: 100, maxSize: 1e9, sizeCalculation: (_, text: string) => text.length }),
      }) as unknown as GrantedSchema,
  });
  const setOf = (privileges: string): PrivilegeSet => {
    const set = schemas.setOf(privileges);
    schemas.hold(set);
    return set;
  };
  const ask = (set: PrivilegeSet) => schemas.of(set).types();
  const cache = (set: PrivilegeSet, text: string, types: SchemaTypes | null = null) => {
    const granted = schemas.of(set);
    granted.documents.set(text, { compiled: new LRUCache({ max: 1 }), types } as unknown as CachedDocument);
    granted.noteGrowth();
  };
  const finds = (set: PrivilegeSet, text: string) => schemas.of(set).documents.get(text) !== undefined;
  return { schemas, made, use, setOf, ask, cache, finds };
}

describe('GrantedSchemas', () => {
  it('builds the types of a schema once for all roles with equal privileges, and for concurrent requests', async () => {
    const { schemas, made, setOf, ask, use } = start(100);
    const sets = Array.from({ length: 1000 }, (_, index) => setOf(`1 ${index % 10}`));
    const types = await Promise.all(sets.map(ask));
    assert.equal(new Set(types).size, 10);
    assert.equal(made.length, 10);
    assert.equal(await ask(sets[11]!), types[1]);
    assert.equal(schemas.of(sets[11]!), schemas.of(sets[1]!));
    assert.deepEqual(use.read(schemas.size), { name: 'schema', entries: 10, hits: 991, misses: 10 });
    assert.equal([...schemas.values()].length, 10);
  });

  it('keeps the types that fit into its bytes, and builds others again', async () => {
    const { schemas, made, setOf, ask } = start(160);
    const sets = Array.from({ length: 10 }, (_, index) => setOf(`10 ${index}`));
    for (const set of sets) await ask(set);
    assert.equal(schemas.size, 10);
    await ask(setOf('60 large'));
    assert.ok(schemas.size <= 7);
    for (const set of sets) await ask(set);
    assert.ok(made.length > 11);
    assert.equal(await ask(sets[9]!), await ask(sets[9]!));
  });

  it('keeps documents for far more roles than types', async () => {
    const { schemas, made, setOf, ask, cache, finds } = start(10_000);
    const sets = Array.from({ length: 300 }, (_, index) => setOf(`1000 ${index}`));
    for (const set of sets) {
      await ask(set);
      cache(set, 'short');
    }
    assert.equal(made.length, 300);
    const found = sets.filter((set) => finds(set, 'short')).length;
    assert.ok(found > 280, `${found} were found`);
    assert.ok(schemas.size < 10);
  });

  it('evicts documents that hold types together with these', async () => {
    const { schemas, setOf, ask, cache, finds } = start(100);
    const set = setOf('60 one');
    const types = await ask(set);
    assert.ok(schemas.of(set).keeps(types));
    cache(set, 'holds', types);
    cache(set, 'free');
    await ask(setOf('80 other'));
    assert.ok(!schemas.of(set).keeps(types));
    assert.deepEqual([finds(set, 'holds'), finds(set, 'free')], [false, true]);
    assert.notEqual(await ask(set), types);
  });

  it('evicts documents that grow rather than what stays small', async () => {
    const { made, setOf, ask, cache, finds } = start(1000);
    const small = Array.from({ length: 20 }, (_, index) => setOf(`10 ${index}`));
    const large = setOf('10 large');
    let lost = 0;
    for (let round = 0; round < 10; round++) {
      for (const set of [...small, large]) await ask(set);
      if (round > 0 && !finds(large, textOf(750 + round - 1))) lost += 1;
      cache(large, textOf(750 + round));
    }
    assert.ok(lost >= 3, `the large documents were lost ${lost} times`);
    assert.ok(made.length < 21 + 30, `${made.length} were made`);
  });

  it('keeps what was just asked for, whatever its size', async () => {
    const { schemas, setOf, ask, cache } = start(100);
    const one = setOf('500 one');
    const types = await ask(one);
    assert.equal(await ask(one), types);
    await ask(setOf('10 two'));
    assert.equal(schemas.size, 1);
    assert.ok(!schemas.of(one).keeps(types));
    // The request that made it grow keeps using its evicted schema.
    cache(one, textOf(500));
  });

  it('does not count what grows after it was evicted', async () => {
    const { schemas, setOf, cache, finds } = start(100);
    const one = setOf('10 one');
    const early = schemas.of(one);
    cache(setOf('10 two'), textOf(95));
    cache(one, textOf(90));
    early.documents.set('late', {} as CachedDocument);
    early.noteGrowth();
    cache(one, 'short');
    assert.ok(finds(one, 'short'));
  });

  it('forgets privileges that no role has and of which nothing is kept', async () => {
    const { schemas, setOf, ask, cache, made } = start(100);
    const set = setOf('60 one');
    assert.equal(set, setOf('60 one'));
    schemas.release(set);
    assert.equal(schemas.setOf('60 one'), set);
    schemas.release(set);
    const other = schemas.setOf('60 one');
    assert.notEqual(other, set);
    await ask(other);
    await ask(setOf('60 two'));
    cache(setOf('60 two'), textOf(99));
    assert.deepEqual(made, ['60 one', '60 two']);
  });

  it('does not remember a failure', async () => {
    let attempts = 0;
    const { setOf, ask } = start(100, () => {
      attempts += 1;
      return attempts === 1 ? Promise.reject(new Error('cannot')) : Promise.resolve(typesOf(1));
    });
    const set = setOf('a');
    await assert.rejects(Promise.resolve(ask(set)), /^Error: cannot$/);
    await ask(set);
    assert.equal(attempts, 2);
  });
});
