import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { account } from '../../../test/support/sample-model.ts';
import type { Filter } from '../../plan/conditions.ts';
import type { ConnectionPlan, ConnectionValue, EdgeValue, Page, PageInfoValue } from '../../plan/plan.ts';
import { newContext } from '../compile-row.ts';
import { type PageNeeds, pageNeeds } from './collection.ts';

const [id] = account.primaryKey;
const forward: Page = { direction: 'forward', limit: 10, offset: null, cursor: null, keys: [] };
const backward: Page = { ...forward, direction: 'backward' };
const membersOf = <Value>(values: readonly Value[]) => values.map((value, index) => ({ key: `m${index}`, name: `m${index}`, value }));

function needsOf(values: readonly ConnectionValue[], page = forward, filter: Filter | null = null): PageNeeds {
  const plan: ConnectionPlan = {
    kind: 'connection',
    table: account,
    page,
    filter,
    distinct: null,
    fusion: null,
    members: membersOf(values),
  };
  return pageNeeds({ plan, rows: { kind: 'table', relatedTo: null }, context: newContext() });
}

const edges = (...values: readonly EdgeValue[]): ConnectionValue => ({ kind: 'edges', members: membersOf(values) });
const info = (kind: Exclude<PageInfoValue['kind'], 'type name'>): ConnectionValue => ({
  kind: 'page info',
  members: membersOf([{ kind }]),
});
const node = (...columns: readonly (typeof id)[]): EdgeValue => ({
  kind: 'node',
  row: { table: account, members: membersOf(columns.map((column) => ({ kind: 'column' as const, column: column! }))) },
});

describe('what a page needs', () => {
  it('is the columns of its nodes, as JSON if they are selected several times', () => {
    const { isRead, rows, keys, oneMore, numbers } = needsOf([edges(node(id))]);
    assert.deepEqual({ isRead, keys, oneMore, numbers }, { isRead: true, keys: false, oneMore: false, numbers: false });
    assert.deepEqual([rows.columns, rows.json, rows.row], [[id!.name], [], false]);
    assert.deepEqual(needsOf([edges(node(id, id))]).rows.json, [id]);
  });

  it('is one more row, with numbers, if the query asks whether there are more', () => {
    for (const [page, kind] of [[forward, 'has next page'] as const, [backward, 'has previous page'] as const]) {
      const { oneMore, numbers } = needsOf([info(kind)], page);
      assert.deepEqual([oneMore, numbers], [true, true]);
    }
  });

  it('is numbers if the page is read backward', () => {
    assert.equal(needsOf([edges(node(id))], backward).numbers, true);
    assert.equal(needsOf([info('end cursor')], backward).numbers, true);
  });

  it('is the order keys if cursors are shown', () => {
    assert.equal(needsOf([edges({ kind: 'cursor' })]).keys, true);
    assert.equal(needsOf([info('start cursor')]).keys, true);
  });

  it('is nothing if nothing aggregates its rows', () => {
    assert.equal(needsOf([{ kind: 'total count', estimate: null }]).isRead, false);
    assert.equal(needsOf([info('has previous page')]).isRead, false);
    assert.equal(needsOf([info('has previous page')], { ...forward, offset: 1 }).isRead, true);
  });

  it('is only an edge if the filter pins the key', () => {
    const parameter = { value: { kind: 'constant', value: '1' }, encoding: { kind: 'text' } } as const;
    const filter: Filter = { kind: 'comparison', column: id!, operator: 'eq', parameter };
    const { isOneRow, isRead } = needsOf([edges(node(id))], forward, filter);
    assert.deepEqual([isOneRow, isRead], [true, false]);
    assert.equal(needsOf([edges(node(id)), info('end cursor')], forward, filter).isOneRow, false);
  });
});
