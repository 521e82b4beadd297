import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bind, builtIn, escapedLiteral, identifier, integer, join, literal, newLine, nothing, render, sql, trusted } from './sql.ts';

const textOf = (fragment: Parameters<typeof render>[0]) => render(fragment).text;

describe('SQL fragments', () => {
  it('quote each part of a qualified name', () => {
    assert.equal(textOf(identifier('public', 'Account')), '"public"."Account"');
    assert.equal(textOf(identifier('a"b', "it's.c")), '"a""b"."it\'s.c"');
  });

  it('escape texts for any setting of standard_conforming_strings', () => {
    assert.equal(textOf(literal('plain')), "'plain'");
    assert.equal(textOf(literal("it's")), "'it''s'");
    assert.equal(textOf(literal("\\' or 1=1")), "E'\\\\'' or 1=1'");
    assert.equal(textOf(literal('one\ntwo')), "E'one\\ntwo'");
    assert.equal(textOf(literal('')), "''");
  });

  it('write texts of clients with neither quotes nor backslashes of their own', () => {
    assert.equal(textOf(escapedLiteral('{"sub":"a1"}')), `E'{"sub":"a1"}'`);
    assert.equal(textOf(escapedLiteral("it's \\ é😀\n")), String.raw`E'it\u0027s \u005c \u00e9\ud83d\ude00\u000a'`);
  });

  it('accept only whole numbers as integers', () => {
    assert.equal(textOf(integer(-3)), '-3');
    for (const value of [1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) assert.throws(() => integer(value), /is not a whole number/);
  });

  it('qualify calls of built-in functions', () => {
    assert.equal(textOf(builtIn('to_json', trusted('x'))), 'pg_catalog.to_json(x)');
  });

  it('splice into each other and join with a separator', () => {
    const list = join([identifier('a'), integer(1), nothing], ', ');
    assert.equal(textOf(sql`select ${list}from ${nothing}${identifier('t')}`), 'select "a", 1, from "t"');
    assert.equal(textOf(join([trusted('a'), trusted('b')], sql` ${trusted('or')} `)), 'a or b');
    assert.deepEqual(join([], ', '), nothing);
  });
});

describe('render', () => {
  it('numbers parameters in text order', () => {
    const rendered = render(sql`${bind('x', 'text')}, ${bind(7, 'integer')}`);
    assert.deepEqual(rendered, { text: '$1::text, $2::integer', parameters: ['x', 7] });
  });

  it('gives the same object with the same type one number', () => {
    const [one, alike] = [{ value: 1 }, { value: 1 }];
    const rendered = render(join([bind(one, 'text'), bind(one, 'integer'), bind(alike, 'text'), bind(one, 'text')], ' '));
    assert.equal(rendered.text, '$1::text $2::integer $3::text $1::text');
    assert.deepEqual(rendered.parameters, [one, one, alike]);
    assert.equal(rendered.parameters[2], alike);
  });

  it('indents lines by the open parentheses', () => {
    const inner = sql`(${newLine}select (1)${newLine}from t${trusted(')')}`;
    assert.equal(textOf(sql`select ${inner}${newLine}where true`), 'select (\n  select (1)\n  from t)\nwhere true');
  });

  it('ignores parentheses in quotes', () => {
    assert.equal(
      textOf(sql`select ${literal("it's ((")}, ${identifier('a(")')}${newLine}from t`),
      'select \'it\'\'s ((\', "a("")"\nfrom t',
    );
  });
});
