import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumOf, int4, scalarType, text } from '../../../test/support/sample-model.ts';
import { noLimits } from '../../budget/limits.ts';
import { runAtOnce } from '../../budget/turns.ts';
import type { ValueType } from '../../model/value-type.ts';
import type { Parameter, ParameterEncoding, ParameterValue } from '../../plan/parameter.ts';
import type { ScalarValue } from '../../request/operation.ts';
import { bindStatements } from './bind-parameters.ts';

const bindParameters = (parameters: readonly Parameter[], bindValues: readonly ScalarValue[]) =>
  runAtOnce(bindStatements([{ text: '', parameters }], bindValues, noLimits))[0]!.parameters;
const constant = (value: ScalarValue): ParameterValue => ({ kind: 'constant', value });
const bound = (value: ScalarValue, encoding: ParameterEncoding) => bindParameters([{ value: constant(value), encoding }], [])[0];
const written = (value: ScalarValue, type: ValueType) => bound(value, { kind: 'value', type, use: 'write' });
const filtered = (value: ScalarValue, type: ValueType) => bound(value, { kind: 'value', type, use: 'filter' });
const count = (value: ScalarValue) => bound(value, { kind: 'count', argument: 'first', maximum: 30 });

const listOf = (element: typeof text): ValueType => ({ kind: 'list', element, sqlType: `${element.sqlType}[]` });
const mapped: ValueType = { kind: 'enum', enum: enumOf({ READY: 'ready "now"', DONE: 'done' }), sqlType: 'mood' };
const unmapped: ValueType = { kind: 'enum', enum: enumOf({ calm: 'calm' }), sqlType: 'mood' };

describe('bindStatements', () => {
  it('takes constants, bind values by number, and lists of both', () => {
    const encoding: ParameterEncoding = { kind: 'value', type: int4, use: 'filter' };
    const bindValue = (number: number): ParameterValue => ({ kind: 'variable', index: number });
    const parameters: Parameter[] = [
      constant('1'),
      bindValue(1),
      bindValue(0),
      { kind: 'list' as const, items: [bindValue(1), constant(null)] },
    ].map((value) => ({ value, encoding }));
    assert.deepEqual(bindParameters(parameters, ['7', '8']), ['1', '8', '7', '{"8",NULL}']);
  });

  it('compares rows by their texts; a text that PostgreSQL cannot store equals none', () => {
    const encoding: ParameterEncoding = { kind: 'rows', type: text, use: 'text' };
    const items = ['a"b', 'nul\0', null].map(constant);
    assert.deepEqual(bindParameters([{ value: { kind: 'list', items }, encoding }], []), ['{"a\\"b",NULL,NULL}']);
  });

  it('encodes null as null, whatever the encoding', () => {
    const encodings: ParameterEncoding[] = [
      { kind: 'text' },
      { kind: 'integer' },
      { kind: 'value', type: mapped, use: 'write' },
      { kind: 'value', type: listOf(text), use: 'write' },
      { kind: 'count', argument: 'first', maximum: 1 },
    ];
    for (const encoding of encodings) assert.equal(bound(null, encoding), null);
  });

  it('writes arrays that PostgreSQL reads back unchanged', () => {
    assert.equal(written(['a', 'b"c', 'd\\e', '', 'NULL', null, '{x,y}'], listOf(text)), '{"a","b\\"c","d\\\\e","","NULL",NULL,"{x,y}"}');
    assert.equal(written([], listOf(text)), '{}');
    assert.equal(written('one', listOf(text)), '{"one"}');
    assert.equal(filtered([true, false], scalarType('Boolean', 'boolean')), '{"true","false"}');
  });

  it('separates the elements of arrays as their type does', () => {
    const box = { ...scalarType('Opaque', 'box'), delimiter: ';' } as typeof text;
    assert.equal(written(['(1,1),(0,0)', null, '(2,2),(0,0)'], listOf(box)), '{"(1,1),(0,0)";NULL;"(2,2),(0,0)"}');
  });

  it('accepts lists in cursors only for arrays, and objects in nodeIds only as JSON', () => {
    const list = { json: '[1,-2]' };
    const object = { json: '{"x":1}' };
    assert.equal(bound(list, { kind: 'array' }), '{1,-2}');
    assert.equal(bound('{NULL}', { kind: 'array' }), '{NULL}');
    assert.equal(bound(object, { kind: 'json' }), '{"x":1}');
    assert.equal(bound('a"b', { kind: 'json' }), '"a\\"b"');
    const rows: ParameterEncoding = { kind: 'rows', type: text, use: 'text' };
    for (const [value, what, encoding] of [
      [list, 'array', { kind: 'text' }],
      [object, 'object', { kind: 'text' }],
      [object, 'object', { kind: 'array' }],
      [[object], 'object', rows],
    ] as const)
      assert.throws(() => bound(value, encoding), { code: 'BAD_USER_INPUT', message: `Unexpected ${what} in input value` });
  });

  it('replaces enum names by their labels', () => {
    assert.equal(written('READY', mapped), 'ready "now"');
    assert.equal(filtered(['READY', 'DONE'], mapped), '{"ready \\"now\\"","done"}');
    assert.throws(() => filtered('ready', mapped), { code: 'BAD_USER_INPUT', message: 'The enum has no value "ready".' });
    assert.equal(written('anything', unmapped), 'anything');
  });
});

describe('texts', () => {
  const varchar = scalarType('String', 'character varying', 3);

  it('are measured in characters, not in code units', () => {
    assert.equal(written('abc', varchar), 'abc');
    assert.equal(written('🦀🦀🦀', varchar), '🦀🦀🦀');
    assert.equal(written('x'.repeat(9), text), 'x'.repeat(9));
    const refusal = { code: 'BAD_USER_INPUT', message: 'The text is longer than 3 characters, the maximum of character varying(3).' };
    assert.throws(() => written('abcd', varchar), refusal);
    assert.throws(() => written('🦀🦀🦀🦀', varchar), refusal);
    assert.throws(() => filtered('abcd', varchar), refusal);
  });

  it('are left to PostgreSQL in a list that is written, but not in one that is compared', () => {
    assert.equal(written(['abcd'], listOf(varchar)), '{"abcd"}');
    assert.throws(() => filtered(['abcd'], varchar), /longer than 3 characters/);
  });

  it('that PostgreSQL cannot store equal nothing and are not written', () => {
    for (const unstorable of ['a\0b', '\ud800', 'x\udc00']) {
      assert.equal(filtered(unstorable, text), null);
      assert.equal(filtered(['a', unstorable], text), '{"a",NULL}');
      assert.equal(bound(unstorable, { kind: 'text' }), null);
      assert.throws(() => written(unstorable, text), { code: 'BAD_USER_INPUT', message: /NUL character/ });
      assert.throws(() => written([unstorable], listOf(text)), { code: 'BAD_USER_INPUT' });
    }
  });
});

describe('counts', () => {
  it('are within their maximum', () => {
    assert.deepEqual(['0', '29', '30', '31', '2147483647'].map(count), ['0', '29', '30', '30', '30']);
  });

  it('are not negative', () => {
    assert.throws(() => count('-1'), { code: 'BAD_USER_INPUT', message: '`first` must be an unsigned integer' });
  });

  it('are not checked if any whole number will do', () => {
    assert.equal(bound('-5', { kind: 'integer' }), '-5');
  });
});

describe('pauses of bindStatements', () => {
  const rows = (count: number): Parameter => {
    const items = Array.from({ length: count }, (_, index) => constant(String(index)));
    return { value: { kind: 'list', items }, encoding: { kind: 'rows', type: text, use: 'write' } };
  };

  it('pauses after thousands of values, in one statement or many', () => {
    const statements = [
      { text: 'a', parameters: [rows(10), rows(3000), rows(3000)] },
      { text: 'b', parameters: [rows(1990), rows(20)] },
    ];
    const steps = bindStatements(statements, [], noLimits);
    const pauses = [1, 2, 3].map(() => steps.next().done);
    assert.deepEqual(pauses, [false, false, false]);
    assert.deepEqual(steps.next(), { done: true, value: runAtOnce(bindStatements(statements, [], noLimits)) });
  });

  it('names the statement that a value does not fit', () => {
    const unstorable: Parameter = { value: constant('a\0'), encoding: { kind: 'value', type: text, use: 'write' } };
    const statements = [
      { text: 'a', parameters: [rows(1)] },
      { text: 'b', parameters: [unstorable] },
    ];
    assert.throws(() => runAtOnce(bindStatements(statements, [], noLimits)), { code: 'BAD_USER_INPUT', statement: 1 });
  });
});
