import assert from 'node:assert/strict';
import { it } from 'node:test';
import { postgresType } from './postgres-types.ts';

function readDefault(sql: string, name: string): unknown {
  return postgresType({ schema: 'pg_catalog', name, kind: 'b' }).readDefault?.(sql);
}

it('readDefault reads plain constants as introspection shows them', () => {
  assert.equal(readDefault('10', 'int4'), 10);
  assert.equal(readDefault('1.5', 'float8'), 1.5);
  assert.equal(readDefault('true', 'bool'), true);
  assert.equal(readDefault('false', 'bool'), false);
  assert.equal(readDefault("''::text", 'text'), '');
  assert.equal(readDefault("'it''s, so'::text", 'text'), "it's, so");
  assert.equal(readDefault("E'a\\\\b'::text", 'text'), 'a\\b');
});

it('readDefault returns undefined for nulls, expressions and other types', () => {
  const hidden: [sql: string, typeName: string][] = [
    ['NULL::integer', 'int4'],
    ['(2 + 3)', 'int4'],
    ["'-5'::integer", 'int4'],
    ["'NaN'::double precision", 'float8'],
    ['NULL::boolean', 'bool'],
    ["upper('abc'::text)", 'text'],
    ["('a'::text || 'b'::text)", 'text'],
    ['5', 'int8'],
    ["'2020-02-02'::date", 'date'],
  ];
  for (const [sql, typeName] of hidden) assert.equal(readDefault(sql, typeName), undefined, sql);
});
