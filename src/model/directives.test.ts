import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  parseDirective,
  readDescription,
  readDirective,
  readEnabled,
  readForeignKeys,
  readKeyColumns,
  readMappings,
  readMaximum,
  readName,
} from './directives.ts';

describe('readDirective', () => {
  it('finds the directive within prose, up to the end of its JSON', () => {
    assert.deepEqual(readDirective('Kites (all) @graphql({"name": "A (b)",\n"x": [{}]} ) fine'), { name: 'A (b)', x: [{}] });
    for (const prose of [' see (there)', ') and "', ' @graphql({"name": "B"})', '}']) {
      assert.deepEqual(readDirective(`@graphql({"name": "A"})${prose}`), { name: 'A' }, prose);
    }
    assert.deepEqual(readDirective('@graphql({"name": "\\"})", "a": "\\\\"})'), { name: '"})', a: '\\' });
  });

  it('finds no directive in text that only resembles one', () => {
    for (const comment of [null, '', 'words', '@graphql()', '@graphql({}', '@graphql ({"a": 1})'])
      assert.deepEqual(readDirective(comment), {});
    for (const comment of ['@graphql([1])', '@graphql("x")', '@graphql(null)', '@graphql(5)']) assert.deepEqual(readDirective(comment), {});
  });

  it('ignores invalid JSON', () => {
    for (const comment of ['@graphql({name: A})', '@graphql({"a": tru})', '@graphql({)', '@graphql({"a": 1} b)', '@graphql({"a": ")']) {
      assert.equal(parseDirective(comment).kind, 'broken', comment);
      assert.deepEqual(readDirective(comment), {});
    }
  });
});

describe('the members of a directive', () => {
  it('reads any scalar as a name', () => {
    const directive = { a: 'A', b: 5, c: null, d: true, e: { f: 1 } };
    assert.deepEqual(
      [...'abcdeg'].map((key) => readName(directive, key)),
      ['A', '5', null, 'true', null, null],
    );
    assert.equal(readDescription({ description: 'd' }), 'd');
    assert.equal(readDescription({ description: 5 }), null);
  });

  it('enables only by true and "true"', () => {
    const enabled = (totalCount: unknown) => readEnabled({ totalCount }, 'totalCount');
    assert.deepEqual([{ enabled: true }, { enabled: 'true' }].map(enabled), [true, true]);
    assert.deepEqual([true, { enabled: 1 }, { enabled: false }, null, undefined, [true]].map(enabled), Array(6).fill(false));
  });

  it('reads max_rows as PostgreSQL reads an integer', () => {
    const rows = (max_rows: unknown) => readMaximum({ max_rows }, 'max_rows');
    assert.deepEqual([5, '7', ' +8 ', 0, null, undefined, -1].map(rows), [5, 7, 8, 0, null, null, null]);
    assert.deepEqual(['many', 1.5, true, 3e9, [1], {}].map(rows), Array(6).fill(null));
  });

  it('reads keys and mappings, but not malformed ones', () => {
    assert.deepEqual(readKeyColumns({ primary_key_columns: ['a', 'b'] }), ['a', 'b']);
    for (const malformed of ['a', [], [1], null]) assert.equal(readKeyColumns({ primary_key_columns: malformed }), undefined);
    assert.deepEqual([...readMappings({ mappings: { a: 'A', b: 1 } })], [['a', 'A']]);
    assert.deepEqual([...readMappings({ mappings: ['a'] })], []);
  });

  it('reads foreign keys, keeping the position of incomplete ones', () => {
    const entry = { local_columns: ['a'], foreign_schema: 's', foreign_table: 't', foreign_columns: ['b'], local_name: 'x' };
    const [complete, ...incomplete] = readForeignKeys({
      foreign_keys: [entry, { ...entry, foreign_columns: [] }, { ...entry, foreign_table: 1 }, 5],
    });
    assert.deepEqual(complete, { localColumns: ['a'], foreignSchema: 's', foreignTable: 't', foreignColumns: ['b'], directive: entry });
    assert.deepEqual(incomplete, [undefined, undefined, undefined]);
    assert.deepEqual(readForeignKeys({ foreign_keys: 'x' }), []);
  });
});
