import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluateRowsOf, type RowEstimate, type RowRead } from './evaluate-rows.ts';

const nothing: RowEstimate = { constant: 0, reads: [] };

/** A page of 100 rows of table 1. */
const page = (more: Partial<RowRead> = {}): RowRead => ({
  path: ['rows'],
  size: 100,
  argument: 'first',
  tableId: 1,
  isApart: true,
  row: nothing,
  ...more,
});
const of = (...reads: RowRead[]): RowEstimate => ({ constant: 0, reads });
const rowsOf = (size: number, estimate: RowEstimate) => evaluateRowsOf(new Map([[1, size]]), estimate, []).rows;
const nested = (levels: number, more: Partial<RowRead> = {}): RowEstimate =>
  levels === 0 ? nothing : of(page({ ...more, row: nested(levels - 1, more) }));

describe('rows of tables of a known size', () => {
  it('are no more than the table has, also in all pages together if no row is in two', () => {
    assert.equal(rowsOf(1000, nested(4)), 100 + 1000 + 1000 + 1000);
    assert.equal(rowsOf(10, nested(4)), 4 * 10);
  });

  it('are read again for each row around them, if these may be the same row', () => {
    assert.equal(rowsOf(1000, nested(3, { isApart: false })), 100 + 100 * 100 + 100 * 100 * 100);
    assert.equal(rowsOf(10, nested(3, { isApart: false })), 10 + 100 + 1000);
    const below = of(page({ row: of(page({ isApart: false, row: of(page()) })) }));
    assert.equal(rowsOf(10, below), 10 + 100 + 1000);
  });

  it('are as many as the pages allow if the size is unknown', () => {
    assert.equal(rowsOf(10, nested(3, { tableId: null })), 100 + 100 ** 2 + 100 ** 3);
    assert.equal(rowsOf(10, nested(2, { tableId: 2 })), 100 + 100 ** 2);
  });

  it('count to-one relations and aggregates for each row', () => {
    assert.equal(rowsOf(50, of(page({ row: { constant: 11, reads: [] } }))), 50 + 50 * 11);
    assert.equal(rowsOf(50, of(page({ size: 0, row: nested(2) }))), 0);
  });

  it('name the selection that reads most', () => {
    const estimate = of(page({ path: ['a'], row: of(page({ path: ['a', 'edges', 'node', 'b'] })) }), page({ path: ['c'], size: 1000 }));
    const largest = (size: number) => evaluateRowsOf(new Map([[1, size]]), estimate, []).largest?.path.join('.');
    assert.equal(largest(1_000_000), 'a.edges.node.b');
    assert.equal(largest(100), 'a');
    assert.equal(evaluateRowsOf(new Map(), nothing, []).largest, null);
  });
});
