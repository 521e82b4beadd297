import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { account, columnOf, int4, tableWith, text, twin } from '../../../test/support/sample-model.ts';
import type { Column, Table } from '../../model/model.ts';
import type { InputValue, SelectedField } from '../../request/operation.ts';
import type { OrderKey } from '../conditions.ts';
import type { Page } from '../plan.ts';
import { planPage } from './page.ts';

const number = (value: number): InputValue => ({ kind: 'constant', value: String(value) });
const cursor = (...values: (string | null)[]): InputValue => ({
  kind: 'cursor',
  elements: values.map((value) => (value === null ? null : { kind: 'constant', value })),
});

/** An element of `orderBy`: columns with directions. */
function order(...entries: [Column, string | null][]): InputValue {
  return {
    kind: 'object',
    entries: entries.map(([column, name]) => ({
      name: column.fieldName,
      binding: { at: 'order', kind: 'column', column },
      value: name === null ? null : { kind: 'choice', name },
    })),
  };
}

function plan(values: Record<string, InputValue>, table: Table = account): Page {
  const field: SelectedField = {
    key: 'accountCollection',
    name: 'accountCollection',
    parentType: 'Query',
    binding: { at: 'query', kind: 'collection', table },
    arguments: Object.entries(values).map(([name, value]) => ({ name, binding: undefined, value })),
    unsent: [],
    selection: [],
    on: () => [],
  };
  return planPage(field, table);
}

const fails = (values: Record<string, InputValue>, message: string | RegExp) =>
  assert.throws(() => plan(values), { code: 'BAD_USER_INPUT', message });

const [id, name] = account.columns as [Column, Column];

describe('the arguments of a page', () => {
  it('exclude each other with pg_graphql messages', () => {
    const [one, here] = [number(1), cursor('1')];
    fails({ first: one, last: one }, 'only one of "first" and "last" may be provided');
    fails({ before: here, after: here }, 'only one of "before" and "after" may be provided');
    fails({ first: one, before: here }, '"first" may only be used with "after"');
    fails({ last: one, after: here }, '"last" may only be used with "before"');
    fails({ last: one, offset: one }, '"offset" may only be used with "first" and "after"');
    fails({ before: here, offset: one }, '"offset" may only be used with "first" and "after"');
  });

  it('exclude nothing if they are null', () => {
    assert.equal(plan({ first: number(1), last: null, before: null, offset: null }).direction, 'forward');
    assert.equal(plan({ first: null, last: number(1), after: null }).direction, 'backward');
  });

  it('count from the start or the end', () => {
    const here = cursor('1');
    assert.equal(plan({}).direction, 'forward');
    assert.equal(plan({ first: number(1), after: here, offset: number(2) }).direction, 'forward');
    assert.equal(plan({ before: here }).direction, 'backward');
    assert.equal(plan({ last: number(1), before: here }).direction, 'backward');
  });
});

describe('the size of a page', () => {
  it('is the maximum by default, and never more', () => {
    assert.equal(plan({}).limit, 30);
    assert.equal(plan({ first: number(7) }).limit, 7);
    assert.equal(plan({ first: number(0) }).limit, 0);
    assert.equal(plan({ last: number(31) }).limit, 30);
    assert.equal(plan({ first: number(9) }, { ...account, maxRows: 5 }).limit, 5);
  });

  it('is bound within the maximum if it is a variable', () => {
    const variable = { kind: 'variable', index: 3 } as const;
    assert.deepEqual(plan({ last: variable }).limit, { value: variable, encoding: { kind: 'count', argument: 'last', maximum: 30 } });
  });

  it('cannot be negative, nor can the offset, which may be large', () => {
    fails({ first: number(-1) }, '`first` must be an unsigned integer');
    fails({ last: number(-1) }, '`last` must be an unsigned integer');
    fails({ offset: number(-1) }, '`offset` must be an unsigned integer');
    assert.equal(plan({ offset: number(2_000_000_000) }).offset, 2_000_000_000);
    assert.equal(plan({}).offset, null);
  });
});

describe('the order of a page', () => {
  it('rejects relations nested too deep', () => {
    const nested = (levels: number): InputValue =>
      levels === 0
        ? order([account.columns[0]!, 'AscNullsLast'])
        : {
            kind: 'object',
            entries: [{ name: 'twin', binding: { at: 'order', kind: 'related rows', rows: twin }, value: nested(levels - 1) }],
          };
    assert.equal(plan({ orderBy: nested(50) }).keys[0]?.value.kind, 'related');
    assert.throws(() => plan({ orderBy: nested(51) }), { code: 'QUERY_TOO_COMPLEX' });
  });

  const keysOf = (orderBy: InputValue, table?: Table) =>
    plan({ orderBy }, table).keys.map(({ value, descending, nullsFirst }: OrderKey) => [
      value.kind === 'column' ? value.column.name : value.kind,
      descending,
      nullsFirst,
    ]);
  const byId = ['id', false, false];

  it('is completed by the primary key', () => {
    assert.deepEqual(keysOf(null), [byId]);
    const table = tableWith('Pair', [columnOf('b', int4, { notNull: true }), columnOf('a', text, { notNull: true })]);
    assert.deepEqual(keysOf(null, table), [
      ['b', false, false],
      ['a', false, false],
    ]);
  });

  it('has directions and null ordering', () => {
    const of = (direction: string) => keysOf(order([name, direction]));
    assert.deepEqual(of('AscNullsFirst'), [['name', false, true], byId]);
    assert.deepEqual(of('AscNullsLast'), [['name', false, false], byId]);
    assert.deepEqual(of('DescNullsFirst'), [['name', true, true], byId]);
    assert.deepEqual(of('DescNullsLast'), [['name', true, false], byId]);
  });

  it('takes one key per element, and skips nulls', () => {
    const items = [order([name, 'AscNullsLast'], [id, null]), order(), order([id, 'DescNullsLast'])];
    assert.deepEqual(keysOf({ kind: 'list', items }), [['name', false, false], ['id', true, false], byId]);
    fails({ orderBy: order([name, 'AscNullsLast'], [id, 'AscNullsLast']) }, /^Each element of "orderBy" must have one key/);
    fails({ orderBy: { kind: 'list', items: [null] } }, /^Each element of "orderBy" must be an object/);
  });
});

describe('the cursor of a page', () => {
  it('may have values for only the first keys', () => {
    const { cursor: given } = plan({ after: cursor('x', null), orderBy: order([name, 'AscNullsLast']) });
    assert.deepEqual(given, [{ value: { kind: 'constant', value: 'x' }, encoding: { kind: 'text' } }, null]);
    assert.equal(plan({ before: cursor('x'), orderBy: order([name, 'AscNullsLast']) }).cursor?.length, 1);
    assert.equal(plan({}).cursor, null);
  });

  it('cannot have more values than there are keys', () => {
    fails({ after: cursor('1', '2') }, /^The cursor in the argument "after" does not match "orderBy"/);
    fails({ after: number(1) }, 'Expected a cursor in the argument "after".');
  });
});
