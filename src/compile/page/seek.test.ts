import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { account, columnOf, int4, text } from '../../../test/support/sample-model.ts';
import type { Column } from '../../model/model.ts';
import type { OrderKey, OrderValue } from '../../plan/conditions.ts';
import type { Parameter } from '../../plan/parameter.ts';
import { list } from '../../sql/clauses.ts';
import { render } from '../../sql/sql.ts';
import { Aliases, directScope } from '../scope.ts';
import { joinKeys, type WrittenKey } from './order-keys.ts';
import { asOneRange, conditionsNotAfter, orderBy, pagingKeys, seekRanges, wholeRanges } from './seek.ts';

const rows = directScope('t', { keepsNotNull: true });
const write = (keys: readonly OrderKey[]): readonly WrittenKey[] => joinKeys(keys, rows, false, new Aliases()).keys;
const by = (column: Column): OrderValue => ({ kind: 'column', column });
const id: OrderKey = { value: by(columnOf('id', int4, { notNull: true })), descending: false, nullsFirst: false };
const key = (name: string, descending: boolean, nullsFirst: boolean): OrderKey => ({
  value: by(columnOf(name, text)),
  descending,
  nullsFirst,
});
const value = (of: string): Parameter => ({ value: { kind: 'constant', value: of }, encoding: { kind: 'text' } });

const names = (keys: readonly OrderKey[]) =>
  keys.map(({ value: ordered }) => (ordered.kind === 'column' ? ordered.column.name : ordered.kind));

/** The ranges as text, and how many keys need no ordering in each. Aliases and casts are removed. */
function rangesOf(keys: readonly OrderKey[], cursor: readonly (string | null)[]): [string, number][] {
  const parameters = cursor.map((of) => (of === null ? null : value(of)));
  return seekRanges(write(keys), parameters).map(({ condition, order }) => {
    const rendered = render<Parameter>(condition);
    const written = rendered.text.replaceAll(/t\."(\w+)"/g, '$1').replaceAll(/\$(\d+)::\w+/g, (_, number) => {
      const { value: bound } = rendered.parameters[Number(number) - 1]!;
      return bound.kind === 'constant' ? String(bound.value) : '?';
    });
    assert.deepEqual(names(order), names(keys.slice(keys.length - order.length)));
    return [written, keys.length - order.length];
  });
}

describe('the ranges after a cursor', () => {
  it('are one comparison if a key is never null', () => {
    assert.deepEqual(rangesOf([id], ['1']), [['id > 1', 0]]);
    assert.deepEqual(rangesOf([{ ...id, descending: true }], ['1']), [['id < 1', 0]]);
  });

  it('cast to the types of the columns', () => {
    const [range] = seekRanges(write([id]), [value('1')]);
    assert.equal(render(range!.condition).text, 't."id" > $1::integer');
  });

  it('compare keys of the same direction as a row', () => {
    const first = { ...id, value: by(columnOf('a', int4, { notNull: true })) };
    assert.deepEqual(rangesOf([first, id], ['1', '2']), [['(a, id) > (1, 2)', 0]]);
  });

  it('end with the nulls if those sort last', () => {
    assert.deepEqual(rangesOf([key('a', false, false), id], ['x', '1']), [
      ['(a, id) > (x, 1)', 0],
      ['a is null', 1],
    ]);
    assert.deepEqual(rangesOf([key('a', true, false), id], ['x', '1']), [
      ['a = x and id > 1', 1],
      ['a < x', 0],
      ['a is null', 1],
    ]);
  });

  it('have no nulls if those sort first', () => {
    assert.deepEqual(rangesOf([key('a', false, true), id], ['x', '1']), [['(a, id) > (x, 1)', 0]]);
    assert.deepEqual(rangesOf([key('a', true, true), id], ['x', '1']), [
      ['a = x and id > 1', 1],
      ['a < x', 0],
    ]);
  });

  it('continue from a null to the values if nulls sort first, and to nothing if they sort last', () => {
    assert.deepEqual(rangesOf([key('a', false, true), id], [null, '1']), [
      ['a is null and id > 1', 1],
      ['a is not null', 0],
    ]);
    assert.deepEqual(rangesOf([key('a', false, false), id], [null, '1']), [['a is null and id > 1', 1]]);
  });

  it('are disjoint for three keys of alternating directions', () => {
    assert.deepEqual(rangesOf([key('a', false, false), key('b', true, true), id], ['x', 'y', '1']), [
      ['a = x and b = y and id > 1', 2],
      ['a = x and b < y', 1],
      ['a > x', 0],
      ['a is null', 1],
    ]);
  });
});

describe('consecutive ranges', () => {
  const beyond = (keys: readonly OrderKey[], cursor: readonly string[]) =>
    seekRanges(
      write(keys),
      cursor.map((of) => value(of)),
    ).map(({ isBeyond }) => isBeyond);

  it('are those of a change of direction, and the nulls of the first key of the row comparison', () => {
    assert.deepEqual(beyond([key('a', false, false), key('b', true, true), id], ['x', 'y', '1']), [true, true, true, true]);
    assert.deepEqual(beyond([key('a', false, false), id], ['x', '1']), [true, true]);
  });

  it('are not the nulls of a later key, which lie between the rows of the comparison', () => {
    // (a, b, id) > (x, y, 1); a = x and b is null; a is null.
    assert.deepEqual(beyond([key('a', false, false), key('b', false, false), id], ['x', 'y', '1']), [true, false, true]);
  });
});

describe('the ranges after a cursor with fewer values than keys', () => {
  it('compare values only', () => {
    assert.deepEqual(rangesOf([key('a', false, false), id], ['x']), [['a > x', 0]]);
    assert.deepEqual(rangesOf([key('a', true, false), key('b', false, false), id], ['x', 'y']), [
      ['a = x and b > y', 1],
      ['a < x', 0],
    ]);
  });

  it('are empty if nothing can follow', () => {
    assert.deepEqual(rangesOf([key('a', false, false), id], [null]), []);
    assert.deepEqual(rangesOf([id], []), []);
  });
});

describe('the rows not after a cursor', () => {
  const notAfter = (keys: readonly OrderKey[], cursor: readonly (string | null)[]) =>
    conditionsNotAfter(
      write(keys),
      cursor.map((of) => (of === null ? null : value(of))),
    ).map((condition) => render(condition).text);

  it('are bounded by the first key, with the nulls before it separate', () => {
    const after = '((t."id" > $1::integer)) is not true';
    assert.deepEqual(notAfter([id], ['1']), [`t."id" <= $1::integer and ${after}`]);
    assert.deepEqual(notAfter([key('a', true, true)], ['x']), ['t."a" is null', 't."a" >= $1::text and ((t."a" < $1::text)) is not true']);
    assert.deepEqual(notAfter([key('a', false, false)], ['x']), [
      't."a" <= $1::text and ((t."a" > $1::text) or (t."a" is null)) is not true',
    ]);
  });

  it('include every value before a null that sorts last', () => {
    const [values = '', nulls = ''] = notAfter([key('a', false, false), id], [null, '1']);
    assert.equal(values, 't."a" is not null');
    assert.match(nulls, /^t\."a" is null and \(/);
    assert.equal(notAfter([key('a', false, true), id], [null, '1']).length, 1);
  });
});

describe('ranges combined into one', () => {
  it('match the rows of any, in the order of all keys', () => {
    const keys = write([key('a', false, false), id]);
    const ranges = seekRanges(keys, [value('x'), value('1')]);
    const [whole, ...others] = asOneRange(ranges, keys);
    assert.equal(others.length, 0);
    assert.equal(render(whole!.condition).text, '(((t."a", t."id") > ($1::text, $2::integer)) or (t."a" is null))');
    assert.deepEqual(names(whole!.order), ['a', 'id']);
    assert.deepEqual(asOneRange([], keys), []);
  });
});

describe('the ranges of all rows', () => {
  const indexed = (key: OrderKey, leadsIndex: boolean): OrderKey =>
    key.value.kind === 'column' ? { ...key, value: by({ ...key.value.column, leadsIndex }) } : key;
  const rangesFor = (first: OrderKey, leadsIndex = true) =>
    wholeRanges(write([indexed(first, leadsIndex), id]), account).map(({ condition, order }) => [
      render(condition).text,
      render(list(orderBy(order))).text,
    ]);

  it('separate values and nulls if an index has the nulls at the other end', () => {
    assert.deepEqual(rangesFor(key('a', true, false)), [
      ['t."a" is not null', 't."a" desc, t."id"'],
      ['t."a" is null', 't."id"'],
    ]);
    assert.deepEqual(rangesFor(key('a', false, true)), [
      ['t."a" is null', 't."id"'],
      ['t."a" is not null', 't."a", t."id"'],
    ]);
  });

  it('match an index with nulls at the non-default end', () => {
    const moved = ({ value, ...rest }: OrderKey): OrderKey =>
      value.kind === 'column' ? { ...rest, value: by({ ...value.column, leadsIndex: true, indexMovesNulls: true }) } : { value, ...rest };
    const rangesOf = (first: OrderKey) =>
      wholeRanges(write([moved(first), id]), account).map(({ condition, order }) => [
        render(condition).text,
        render(list(orderBy(order))).text,
      ]);
    for (const first of [key('a', true, false), key('a', false, true)]) assert.deepEqual(rangesOf(first), []);
    assert.deepEqual(rangesOf(key('a', true, true)), [
      ['t."a" is null', 't."id"'],
      ['t."a" is not null', 't."a" desc nulls last, t."id"'],
    ]);
    const [, after] = seekRanges(write([moved(key('a', true, false)), id]), [value('x'), value('1')]);
    assert.equal(render(list(orderBy(after!.order))).text, 't."a" desc nulls last, t."id"');
    assert.equal(render(list(orderBy(write([moved({ ...id, descending: true })])))).text, 't."id" desc nulls last');
  });

  it('are one range if an index matches or there is none', () => {
    for (const first of [key('a', false, false), key('a', true, true), { ...id, descending: true }]) assert.deepEqual(rangesFor(first), []);
    assert.deepEqual(rangesFor(key('a', true, false), false), []);
  });
});

describe('orderBy', () => {
  const written = (...keys: OrderKey[]) => render(list(orderBy(write(keys)))).text;

  it('omits defaults', () => {
    assert.equal(written(key('a', false, false), id), 't."a", t."id"');
    assert.equal(written(key('a', false, true)), 't."a" nulls first');
    assert.equal(written(key('a', true, true)), 't."a" desc');
    assert.equal(written(key('a', true, false)), 't."a" desc nulls last');
    assert.equal(written({ ...id, descending: true }), 't."id" desc');
  });

  it('reverses every direction when paging backward', () => {
    const keys = [key('a', false, true), id];
    assert.equal(pagingKeys(keys, 'forward'), keys);
    assert.equal(written(...pagingKeys(keys, 'backward')), 't."a" desc nulls last, t."id" desc');
  });
});
