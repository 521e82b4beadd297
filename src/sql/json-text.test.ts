import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { concatenate, type JsonText, jsonObject } from './json-text.ts';
import { bind, render, trusted } from './sql.ts';

const textOf = (pieces: JsonText) => render(concatenate(pieces)).text;

describe('JSON as text', () => {
  it('merges neighbouring strings into one literal', () => {
    assert.equal(textOf(['{', '"a":', '1', '}']), `'{"a":1}'`);
    assert.equal(textOf(['[', trusted('x'), ',', '"it\'s"', ']']), `'[' || x || ',"it''s"]'`);
    assert.equal(textOf([]), "''");
  });

  it('has the members of an object, with keys quoted as JSON', () => {
    const pieces = jsonObject([
      { key: 'id', value: [trusted('t1.id')] },
      { key: 'a"b', value: ['null'] },
    ]);
    assert.deepEqual(pieces, ['{', '"id":', trusted('t1.id'), ',"a\\"b":', 'null', '}']);
    assert.equal(textOf(jsonObject([])), "'{}'");
  });

  it('asks a key that is a fragment for the name with its colon, and the comma ahead of it', () => {
    const alias = (name: string) => (before: string) => bind(`${before}"${name}":`, 'text');
    const rendered = render(
      concatenate(
        jsonObject([
          { key: alias('a'), value: [trusted('x')] },
          { key: alias('b'), value: [trusted('y')] },
        ]),
      ),
    );
    assert.equal(rendered.text, `'{' || $1::text || x || $2::text || y\n  || '}'`);
    assert.deepEqual(rendered.parameters, ['"a":', ',"b":']);
  });

  it('writes a line for each literal with the value that follows it, where the chain is long', () => {
    const pieces = jsonObject(['a', 'b'].map((key) => ({ key, value: [trusted(key)] })));
    assert.equal(textOf(pieces), `'{"a":' || a\n  || ',"b":' || b\n  || '}'`);
  });

  it('groups the pieces of long chains, and loses none', () => {
    for (const count of [25, 26, 50, 51, 1300]) {
      const names = Array.from({ length: count }, (_, index) => `c${index}`);
      const text = textOf(jsonObject(names.map((key) => ({ key, value: [trusted(key)] }))));
      assert.deepEqual(text.match(/(?<!")c\d+/g), names);
      for (const group of text.split(/[()]/)) assert.ok((group.match(/\|\|/g) ?? []).length <= 50, group);
    }
  });

  it('puts no brackets around a group of one', () => {
    const pieces = Array.from({ length: 25 }, (_, index) => [`${index},`, trusted('x')]).flat();
    assert.match(textOf([...pieces, trusted('last')]), /\) \|\| last$/);
  });
});
