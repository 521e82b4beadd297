import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumOf, int4, scalarType, text } from '../../test/support/sample-model.ts';
import type { EnumValueType, ListType, ScalarType, ValueType } from '../model/model.ts';
import { render, trusted } from '../sql/sql.ts';
import { keyJson, opaqueIdJson, repeatsValue, valueJson } from './value-json.ts';

const json = (type: ValueType, notNull = true) => render(valueJson(trusted('v'), type, notNull)).text;
const key = (type: ValueType, notNull = true) => render(keyJson(trusted('v'), type, notNull)).text;
const enumType = (values: Record<string, string>): EnumValueType => ({ kind: 'enum', enum: enumOf(values), sqlType: 'mood' });
const listOf = (element: ScalarType | EnumValueType): ListType => ({ kind: 'list', element, sqlType: `${element.sqlType}[]` });

const plainEnum = enumType({ calm: 'calm' });
const mappedEnum = enumType({ READY: "rea'dy", done: 'done' });
const bigInt = scalarType('BigInt', 'bigint');

describe('valueJson', () => {
  it('writes numbers and booleans as they are, and quotes what JSON would round', () => {
    assert.equal(json(int4), 'v::text');
    assert.equal(json(scalarType('Boolean', 'boolean')), 'v::text');
    for (const type of [bigInt, scalarType('BigFloat', 'numeric'), scalarType('UUID', 'uuid')])
      assert.equal(json(type), `('"' || v::text || '"')`);
  });

  it('leaves to PostgreSQL what needs escapes', () => {
    assert.equal(json(text), 'pg_catalog.to_json(v)::text');
    assert.equal(json(scalarType('Datetime', 'timestamptz')), 'pg_catalog.to_json(v)::text');
    assert.equal(json(scalarType('JSON', 'jsonb')), 'pg_catalog.to_json(v::text)::text');
    assert.equal(json(scalarType('Float', 'float4')), "pg_catalog.to_json(v + '0'::float4)::text");
  });

  it('is never null', () => {
    assert.equal(json(int4, false), "coalesce(v::text, 'null')");
    assert.equal(json(bigInt, false), `coalesce(('"' || v::text || '"'), 'null')`);
    assert.equal(json(text, false), "coalesce(pg_catalog.to_json(v)::text, 'null')");
  });

  it('quotes labels that are safe, and has others escaped', () => {
    assert.equal(json(plainEnum), `('"' || v::text || '"')`);
    for (const label of ['a"b', 'a\\b', 'ü', 'a\nb'])
      assert.equal(json(enumType({ [label]: label })), 'pg_catalog.to_json(v)::text', label);
  });

  it('writes the names of mapped labels', () => {
    assert.equal(json(mappedEnum), `case v when 'rea''dy' then '"READY"' else pg_catalog.to_json(v)::text end`);
  });

  it('writes lists, as texts where their elements are', () => {
    assert.equal(json(listOf(int4)), 'pg_catalog.to_json(v)::text');
    assert.equal(json(listOf(bigInt)), 'pg_catalog.to_json(v::text[])::text');
    assert.equal(json(listOf(plainEnum)), 'pg_catalog.to_json(v::text[])::text');
    assert.match(json(listOf(mappedEnum)), /^case when v is not null then \(select .*coalesce\(case item when .* order by n\)/);
  });

  it('says where it names the value more than once', () => {
    assert.deepEqual([int4, plainEnum, listOf(plainEnum), mappedEnum, listOf(mappedEnum)].map(repeatsValue), [
      false,
      false,
      false,
      true,
      true,
    ]);
    assert.ok(json(listOf(mappedEnum)).match(/\bv\b/g)!.length > 1);
  });

  it('has none of rows', () => {
    assert.throws(() => json({ kind: 'unsupported', sqlType: 'x' }), /has no JSON text of its own/);
  });
});

describe('keyJson', () => {
  it('writes a key as jsonb does', () => {
    assert.equal(key(int4), 'v::text');
    assert.equal(key(bigInt), 'v::text');
    assert.equal(key(text), 'pg_catalog.to_json(v)::text');
    assert.equal(key(mappedEnum), 'pg_catalog.to_json(v)::text');
    assert.equal(key(scalarType('Float', 'float8')), 'pg_catalog.to_jsonb(v)::text');
    assert.equal(key(int4, false), "coalesce(v::text, 'null')");
  });
});

describe('opaqueIdJson', () => {
  it('is base64 in one line', () => {
    assert.equal(render(opaqueIdJson(trusted('v'))).text, `('"' || replace(encode(convert_to(v, 'UTF8'), 'base64'), E'\\n', '') || '"')`);
  });
});
