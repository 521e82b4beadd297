import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../errors/api-error.ts';
import { decodeCursor, decodeNodeId } from './opaque-id.ts';

const encode = (json: string | Uint8Array) => Buffer.from(json).toString('base64');

function assertRefused(decode: () => unknown, message: string | RegExp): void {
  assert.throws(decode, (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, 'BAD_USER_INPUT');
    assert.match(error.message, new RegExp(message));
    return true;
  });
}

describe('decodeCursor', () => {
  it('keeps numbers as written', () => {
    const digits = ['9007199254740993', '1.10', '1e400', '-0', '0.1234567890123456789'];
    assert.deepEqual(decodeCursor(encode(`[${digits.join(',')}]`)), digits);
    assert.deepEqual(decodeCursor(encode('[ "a, [1]\\\\\\"", null ,\n1.50,true, "", -2E1 ]')), [
      'a, [1]\\"',
      null,
      '1.50',
      'true',
      '',
      '-2E1',
    ]);
  });

  it('returns strings and booleans as text, and null as null', () => {
    assert.deepEqual(decodeCursor(encode('["é\\n", "", true, false, null]')), ['é\n', '', 'true', 'false', null]);
    assert.deepEqual(decodeCursor(encode('[]')), []);
  });

  it('accepts base64 with line breaks, as PostgreSQL writes it', () => {
    assert.deepEqual(decodeCursor(encode('[1, 2, 3]').replace(/(.{4})/g, '$1\n')), ['1', '2', '3']);
  });

  it('returns nested arrays and objects as JSON', () => {
    assert.deepEqual(decodeCursor(encode('[1, [2, [1.50]], "[", {"a": [1], "b, }": null }, [ ], 3]')), [
      '1',
      { json: '[2,[1.50]]' },
      '[',
      { json: '{"a":[1],"b, }":null}' },
      { json: '[]' },
      '3',
    ]);
  });

  it('rejects everything but base64 of a JSON array in UTF-8', () => {
    for (const text of [
      '',
      '!',
      'nonsense',
      encode('{}'),
      encode('1'),
      encode('null'),
      encode('[1'),
      encode(new Uint8Array([0x5b, 0x22, 0xff])),
    ]) {
      assertRefused(() => decodeCursor(text), '^Invalid cursor. Pass a value that an earlier response returned.$');
    }
  });

  it('rejects more values, or deeper nesting, than an order can have, but not long texts', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const values = (count: number) => `[${Array(count).fill('1').join(',')}]`;
    for (const json of [nested(101), '['.repeat(500_000), `[${'{"a":'.repeat(100)}1${'}'.repeat(100)}]`, values(10_001), values(300_000)])
      assertRefused(() => decodeCursor(encode(json)), '^Invalid cursor.');
    assertRefused(() => decodeCursor(encode(`[[${values(5_000)}, ${values(5_001)}]]`)), '^Invalid cursor.');
    assertRefused(() => decodeCursor(encode(values(300_000).replaceAll(',', ', '))), '^Invalid cursor.');
    assert.deepEqual(decodeCursor(encode(nested(100))), [{ json: nested(99) }]);
    assert.equal(decodeCursor(encode(values(10_000))).length, 10_000);
    assertRefused(() => decodeNodeId(encode(`["public", "account", ${values(1_000)}]`)), '^Invalid nodeId.');
    const text = '[{,\\"'.repeat(50_000);
    assert.deepEqual(decodeCursor(encode(JSON.stringify([text, text]))), [text, text]);
    assertRefused(() => decodeCursor(encode('["a')), '^Invalid cursor.');
  });

  it('rejects texts that PostgreSQL cannot store', () => {
    for (const json of ['["x\\u0000", 30]', '[30, "\\ud800"]', '["\\udc00x"]'])
      assertRefused(() => decodeCursor(encode(json)), '^Invalid cursor. Pass a value that an earlier response returned.$');
    assert.deepEqual(decodeCursor(encode('["\\ud83d\\ude00", "\\ufffd", "\\u0001"]')), ['😀', '\ufffd', '\u0001']);
  });
});

describe('decodeNodeId', () => {
  it('returns the schema, the table and the key', () => {
    const { schema, table, elements } = decodeNodeId(encode('["public", "Account", 90071992547409930, "x"]'));
    assert.deepEqual([schema, table, elements], ['public', 'Account', ['90071992547409930', 'x']]);
  });

  it('rejects nodeIds that lack one of them', () => {
    for (const json of [
      '[]',
      '["public"]',
      '["public", "account"]',
      '[1, "account", 1]',
      '["public", null, 1]',
      '["public", "a", "\\u0000"]',
      '["public", "\\ud800", 1]',
    ]) {
      assertRefused(() => decodeNodeId(encode(json)), '^Invalid nodeId');
    }
  });
});
