import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween, type Dependence, needLoad, type SchemaChange, tablesInDoubt } from './versions.ts';

const change = (fields: Partial<SchemaChange>): SchemaChange => {
  return { weight: 1, schema: 'elsewhere', relation: null, name: null, isLocal: true, isAlone: false, needsLoad: false, ...fields };
};
const at = (version: string | null, changes: readonly SchemaChange[] | null, extension = '1.2') => ({ version, extension, changes });
const dependence: Dependence = {
  schemas: new Set(['public', 'base']),
  tables: new Map([
    [1, { schema: 'public', name: 'book', hasKey: true }],
    [2, { schema: 'public', name: 'author', hasKey: true }],
    [4, { schema: 'public', name: 'keyless', hasKey: false }],
  ]),
  underlying: new Set([2, 3]),
};

test('changes are known if their weights add up to the difference of the versions', () => {
  const [old, one, two] = [change({ weight: 3 }), change({ weight: 10 }), change({ weight: 20 })];
  const more = change({ weight: 20, schema: 'public' });
  assert.deepEqual(changesBetween(at('5', [old]), at('35', [one, old, two, more])), [one, two, more]);
  assert.deepEqual(changesBetween(at('5', [old]), at('5', [])), []);
  const unknown = [
    [at('5', [old]), at('35', [old, two])],
    [at('5', [old]), at('25', [old, one])],
    [at('35', [old, one]), at('5', [old])],
    [at('5', null, '1.1'), at('15', [one])],
    [at('5', [old], '1.2'), at('15', [old, one], '1.3')],
    [at(null, null), at('15', [one])],
    [at('5', [old]), at(null, null)],
  ] as const;
  for (const [earlier, later] of unknown) assert.equal(changesBetween(earlier, later), null, JSON.stringify([earlier, later]));
});

test('what a snapshot does not depend on concerns no request, and a table alone only its own', () => {
  const book = { schema: 'public', relation: 1, name: 'book', isAlone: true };
  const cases: readonly (readonly [Partial<SchemaChange>, readonly number[] | 'all'])[] = [
    [{}, []],
    [{ relation: 9, name: 'book' }, []],
    [{ schema: null }, 'all'],
    [{ isLocal: false }, 'all'],
    [{ ...book, isLocal: false }, [1]],
    [{ schema: 'public' }, 'all'],
    [{ schema: 'base' }, 'all'],
    [book, [1]],
    [{ ...book, isAlone: false }, 'all'],
    [{ ...book, name: 'renamed' }, 'all'],
    [{ ...book, name: null }, 'all'],
    [{ ...book, schema: 'elsewhere' }, 'all'],
    [{ ...book, relation: 9 }, 'all'],
    [{ ...book, relation: 4, name: 'keyless' }, 'all'],
    // Views read these.
    [{ ...book, relation: 2, name: 'author' }, 'all'],
    [{ relation: 3, name: 'moved', isAlone: true }, 'all'],
  ];
  for (const [fields, expected] of cases) {
    const found = tablesInDoubt([change({}), change(fields)], dependence);
    assert.deepEqual(found === 'all' ? found : [...found], expected, JSON.stringify(fields));
  }
});

test('the fingerprint judges all but what it may not show', () => {
  assert.ok(!needLoad([change({ schema: null }), change({ needsLoad: true })], dependence));
  for (const fields of [{ schema: null }, { isLocal: false }, { schema: 'public' }, { relation: 3 }])
    assert.ok(needLoad([change({ ...fields, needsLoad: true })], dependence), JSON.stringify(fields));
});
