import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { concatenate, type JsonText, jsonObject } from './json-text.ts';
import { bind, render, trusted } from './sql.ts';

const textOf = (pieces: JsonText) => render(concatenate(pieces)).text;

describe('JSON as text', () => {
  it('merges adjacent strings into one literal', () => {
    assert.equal(textOf(['{', '"a":', '1', '}']), `'{"a":1}'`);
    assert.equal(textOf(['[', trusted('x'), ',', '"it\'s"', ']']), `pg_catalog.concat('[', x, ',"it''s"]')`);
    assert.equal(textOf([]), "''");
    assert.equal(textOf([trusted('x')]), 'x');
  });

  it('has the members of an object, with keys quoted as JSON', () => {
    const pieces = jsonObject([
      { key: 'id', value: [trusted('t1.id')] },
      { key: 'a"b', value: ['null'] },
    ]);
    assert.deepEqual(pieces, ['{', '"id":', trusted('t1.id'), ',"a\\"b":', 'null', '}']);
    assert.equal(textOf(jsonObject([])), "'{}'");
  });

  it('lets a key that is a fragment write its colon and the comma before it', () => {
    const alias = (name: string) => (before: string) => bind(`${before}"${name}":`, 'text');
    const rendered = render(
      concatenate(
        jsonObject([
          { key: alias('a'), value: [trusted('x')] },
          { key: alias('b'), value: [trusted('y')] },
        ]),
      ),
    );
    assert.equal(rendered.text, `pg_catalog.concat('{', $1::text, x, $2::text, y,\n  '}')`);
    assert.deepEqual(rendered.parameters, ['"a":', ',"b":']);
  });

  it('writes each literal and the value that follows it on a line, if there are many', () => {
    const pieces = jsonObject(['a', 'b'].map((key) => ({ key, value: [trusted(key)] })));
    assert.equal(textOf(pieces), `pg_catalog.concat('{"a":', a,\n  ',"b":', b,\n  '}')`);
  });

  it('splits calls with too many arguments, and loses none', () => {
    for (const count of [49, 50, 51, 101, 5100]) {
      const names = Array.from({ length: count }, (_, index) => `c${index}`);
      const text = textOf(jsonObject(names.map((key) => ({ key, value: [trusted(key)] }))));
      assert.deepEqual(text.match(/(?<!")c\d+/g), names);
      assert.ok(Math.max(...countArguments(text)) <= 100);
    }
  });

  it('does not wrap a single piece in a call', () => {
    const pieces = Array.from({ length: 50 }, (_, index) => [`${index},`, trusted('x')]).flat();
    assert.match(textOf([...pieces, trusted('last')]), /\),\s+last\)$/);
  });
});

/** The number of arguments of each call in a text. */
function countArguments(text: string): number[] {
  const open: number[] = [];
  const counts: number[] = [];
  for (const [mark] of text.matchAll(/'[^']*'|[(),]/g)) {
    if (mark === '(') open.push(1);
    else if (mark === ',') open[open.length - 1]! += 1;
    else if (mark === ')') counts.push(open.pop()!);
  }
  return counts;
}
