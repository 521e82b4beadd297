import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumOf, int4, scalarType, text } from '../../../test/support/sample-model.ts';
import type { EnumValueType, ListType, ScalarType, ValueType } from '../../model/value-type.ts';
import { concatenate } from '../../sql/json-text.ts';
import { render, trusted } from '../../sql/sql.ts';
import { cursorElementJson, keyElementJson, opaqueIdJson, repeatsValue, valueJson } from './value-json.ts';

const json = (type: ValueType, notNull = true) => render(concatenate(valueJson(trusted('v'), type, notNull))).text;
const element = (type: ValueType, notNull = true) => render(concatenate(cursorElementJson(trusted('v'), type, notNull))).text;
const keyElement = (type: ValueType) => render(concatenate(keyElementJson(trusted('v'), type, true))).text;
const enumType = (values: Record<string, string>): EnumValueType => ({ kind: 'enum', enum: enumOf(values), sqlType: 'mood' });
const listOf = (element: ScalarType | EnumValueType): ListType => ({ kind: 'list', element, sqlType: `${element.sqlType}[]` });

const plainEnum = enumType({ calm: 'calm' });
const mappedEnum = enumType({ READY: "rea'dy", done: 'done' });
const bigInt = scalarType('BigInt', 'bigint');

describe('valueJson', () => {
  it('writes numbers and booleans bare, and quotes numbers that clients would round', () => {
    assert.equal(json(int4), 'v::integer');
    assert.equal(json(scalarType('Boolean', 'boolean')), 'v::boolean::text');
    for (const type of [bigInt, scalarType('BigFloat', 'numeric'), scalarType('UUID', 'uuid')])
      assert.equal(json(type), `pg_catalog.concat('"', v::${type.typeName}, '"')`);
  });

  it('lets PostgreSQL write text that needs escapes', () => {
    assert.equal(json(text), 'pg_catalog.to_json(v)');
    assert.equal(json(scalarType('Datetime', 'timestamptz')), 'pg_catalog.to_json(v)');
    assert.equal(json(scalarType('JSON', 'jsonb')), 'pg_catalog.to_json(v::text)');
    assert.equal(json(scalarType('Float', 'float4')), "pg_catalog.to_json(v + '0'::float4)");
  });

  it('is never null', () => {
    assert.equal(json(int4, false), "coalesce(v::integer::text, 'null')");
    assert.equal(json(bigInt, false), `coalesce('"' || v::bigint::text || '"', 'null')`);
    assert.equal(json(text, false), "coalesce(pg_catalog.to_json(v), 'null')");
  });

  it('quotes safe labels, and lets PostgreSQL escape others', () => {
    assert.equal(json(plainEnum), `pg_catalog.concat('"', pg_catalog.enum_out(v), '"')`);
    for (const label of ['a"b', 'a\\b', 'ü', 'a\nb']) assert.equal(json(enumType({ [label]: label })), 'pg_catalog.to_json(v)', label);
  });

  it('writes the names of mapped labels', () => {
    assert.equal(json(mappedEnum), `case v when 'rea''dy' then '"READY"' else pg_catalog.to_json(v) end`);
  });

  it('writes lists, of strings if their elements are strings', () => {
    assert.equal(json(listOf(int4)), 'pg_catalog.to_json(v)');
    assert.equal(json(listOf(bigInt)), 'pg_catalog.to_json(v::text[])');
    assert.equal(json(listOf(plainEnum)), 'pg_catalog.to_json(v::text[])');
    assert.match(json(listOf(mappedEnum)), /^case when v is not null then \(select .*coalesce\(case "item" when .* order by "n"\)/);
  });

  it('knows when it uses the value more than once', () => {
    assert.deepEqual([int4, plainEnum, listOf(plainEnum), mappedEnum, listOf(mappedEnum)].map(repeatsValue), [
      false,
      false,
      false,
      true,
      true,
    ]);
    assert.ok(json(listOf(mappedEnum)).match(/\bv\b/g)!.length > 1);
  });

  it('rejects rows', () => {
    assert.throws(() => json({ kind: 'unsupported', sqlType: 'x' }), /has no JSON of its own/);
  });
});

describe('cursorElementJson', () => {
  it('writes keys like jsonb', () => {
    assert.equal(element(int4), 'v::integer');
    assert.equal(element(bigInt), 'v::bigint');
    assert.equal(element(text), 'pg_catalog.to_json(v)');
    assert.equal(element(mappedEnum), 'pg_catalog.to_json(v)');
    assert.equal(element(scalarType('Float', 'float8')), 'pg_catalog.to_jsonb(v)');
    assert.equal(element(int4, false), "coalesce(v::integer::text, 'null')");
    assert.equal(element(scalarType('Opaque', 'inet')), 'pg_catalog.to_jsonb(v)');
  });

  it('writes values that would be objects or lists as strings', () => {
    const hstore: ScalarType = { ...scalarType('Opaque', 'hstore'), nestsInJson: true };
    const composite: ValueType = { kind: 'composite', sqlType: 'pair' };
    for (const type of [hstore, scalarType('JSON', 'jsonb'), listOf(int4), listOf(mappedEnum), composite])
      assert.equal(element(type), 'pg_catalog.to_json(v::text)');
    assert.match(
      element({ kind: 'unsupported', sqlType: 'numbers' }),
      /^case when v::text ~ .* then .*to_jsonb\(v\) else .*to_jsonb\(v::text\) end$/,
    );
  });

  it('differs from nodeId elements for composite types', () => {
    assert.equal(keyElement({ kind: 'composite', sqlType: 'pair' }), 'pg_catalog.to_jsonb(v)');
    assert.equal(keyElement(listOf(int4)), element(listOf(int4)));
  });
});

describe('opaqueIdJson', () => {
  it('is base64 in one line', () => {
    const { text: id } = render(concatenate(opaqueIdJson(trusted('v'))));
    assert.equal(
      id,
      `pg_catalog.concat('"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(v, 'UTF8'), 'base64'), E'\\n', ''), '"')`,
    );
  });
});
