import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CacheUse } from './cache-use.ts';
import { GrantedSchemas, type PrivilegeSet } from './granted-schemas.ts';
import type { GrantedSchema } from './role-schema.ts';

/** A schema takes as many bytes as its privileges say, and more when it is told to grow. */
function start(maxBytes: number) {
  const made: string[] = [];
  const use = new CacheUse('schema');
  const growths = new Map<string, (bytes: number) => void>();
  const schemas = new GrantedSchemas(maxBytes, use, async (privileges, noteGrowth) => {
    made.push(privileges);
    let bytes = Number.parseInt(privileges, 10);
    growths.set(privileges, (more) => {
      bytes += more;
      noteGrowth();
    });
    return { estimateBytes: () => bytes } as unknown as GrantedSchema;
  });
  const setOf = (privileges: string): PrivilegeSet => {
    const set = schemas.setOf(privileges);
    schemas.hold(set);
    return set;
  };
  const kept = () => [...schemas.values()].length;
  return { schemas, made, use, growths, setOf, kept };
}

describe('GrantedSchemas', () => {
  it('makes one schema for all roles of equal privileges, once for all who ask meanwhile', async () => {
    const { schemas, made, setOf, use } = start(100);
    const sets = Array.from({ length: 1000 }, (_, index) => setOf(`1 ${index % 10}`));
    const granted = await Promise.all(sets.map((set) => schemas.of(set)));
    assert.equal(new Set(granted).size, 10);
    assert.equal(made.length, 10);
    assert.equal(schemas.of(sets[11]!), granted[1]);
    assert.deepEqual(use.read(10), { name: 'schema', entries: 10, hits: 991, misses: 10 });
  });

  it('keeps what fits into its bytes, and makes the rest again', async () => {
    const { schemas, made, setOf, kept } = start(100);
    const sets = Array.from({ length: 10 }, (_, index) => setOf(`10 ${index}`));
    for (const set of sets) await schemas.of(set);
    assert.equal(kept(), 10);
    await schemas.of(setOf('60 large'));
    assert.equal(kept(), 5);
    for (const set of sets) await schemas.of(set);
    assert.ok(made.length > 11);
    assert.equal(schemas.of(sets[9]!), await schemas.of(sets[9]!));
  });

  it('has most at hand where roles take turns and there is one schema too many', async () => {
    const { schemas, made, setOf } = start(1000);
    const sets = Array.from({ length: 101 }, (_, index) => setOf(`10 ${index}`));
    for (let round = 0; round < 20; round++) for (const set of sets) await schemas.of(set);
    assert.ok(made.length < 101 + 20 * 10, `${made.length} were made`);
  });

  it('gives up what grows rather than what stays small', async () => {
    const { schemas, made, setOf, growths } = start(1000);
    const small = Array.from({ length: 20 }, (_, index) => setOf(`10 ${index}`));
    const large = setOf('10 large');
    for (let round = 0; round < 10; round++) {
      for (const set of [...small, large]) await schemas.of(set);
      growths.get('10 large')!(750);
      growths.get('10 0')!(100);
    }
    assert.ok(made.filter((privileges) => privileges === '10 large').length > 5);
    assert.ok(made.length < 21 + 30, `${made.length} were made`);
  });

  it('keeps one schema whatever it takes, and what grows in the hands of a request', async () => {
    const { schemas, setOf, growths, kept } = start(100);
    const one = await schemas.of(setOf('500 one'));
    assert.equal(schemas.of(setOf('500 one')), one);
    growths.get('500 one')!(500);
    assert.equal(kept(), 1);
    await schemas.of(setOf('10 two'));
    assert.equal(kept(), 1);
    // Its request goes on with what it has.
    growths.get('500 one')!(500);
    assert.equal(kept(), 1);
  });

  it('forgets the privileges that no role has and no schema is kept of', async () => {
    const { schemas, setOf, made } = start(100);
    const set = setOf('60 one');
    const twin = setOf('60 one');
    assert.equal(set, twin);
    schemas.release(set);
    assert.equal(schemas.setOf('60 one'), set);
    schemas.release(set);
    const other = schemas.setOf('60 one');
    assert.notEqual(other, set);
    await schemas.of(other);
    await schemas.of(setOf('60 two'));
    assert.notEqual(schemas.setOf('60 one'), other);
    assert.deepEqual(made, ['60 one', '60 two']);
  });

  it('does not remember a failure', async () => {
    let attempts = 0;
    const schemas = new GrantedSchemas(100, new CacheUse('schema'), () => {
      attempts += 1;
      return attempts === 1 ? Promise.reject(new Error('cannot')) : Promise.resolve({ estimateBytes: () => 1 } as unknown as GrantedSchema);
    });
    const set = schemas.setOf('a');
    schemas.hold(set);
    await assert.rejects(Promise.resolve(schemas.of(set)), /^Error: cannot$/);
    await schemas.of(set);
    assert.equal(attempts, 2);
  });
});
