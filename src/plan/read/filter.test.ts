import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { account, columnOf, int4, tableWith, twin } from '../../../test/support/sample-model.ts';
import type { Column } from '../../model/model.ts';
import type { Operator } from '../../model/types/operators.ts';
import type { InputEntry, InputValue } from '../../request/operation.ts';
import type { Filter } from '../conditions.ts';
import { planFilter } from './filter.ts';

const [id, name] = account.columns as [Column, Column];

const object = (...entries: InputEntry[]): InputValue => ({ kind: 'object', entries });
const list = (...items: InputValue[]): InputValue => ({ kind: 'list', items });
const constant = (value: string): InputValue => ({ kind: 'constant', value });
const entry = (kind: 'and' | 'or' | 'not' | 'node id', value: InputValue): InputEntry => ({
  name: kind,
  binding: { at: 'filter', kind },
  value,
});

/** A filter on a column with these operators. */
const on = (column: Column, tests: Partial<Record<Operator | 'is', InputValue>>): InputEntry => ({
  name: column.fieldName,
  binding: { at: 'filter', kind: 'column', column },
  value: object(
    ...(Object.entries(tests) as [Operator | 'is', InputValue][]).map(([name, value]) => ({
      name,
      binding:
        name === 'is' ? ({ at: 'operators', kind: 'is' } as const) : ({ at: 'operators', kind: 'operator', operator: name } as const),
      value,
    })),
  ),
});

/** A filter in short form: `(id eq and not(name is null))`. */
function describeFilter(filter: Filter | null): string | null {
  if (filter === null) return null;
  switch (filter.kind) {
    case 'not':
      return `not(${describeFilter(filter.filter)})`;
    case 'null test':
      return `${filter.column.name} is ${filter.isNull ? 'null' : 'not null'}`;
    case 'comparison':
      return `${filter.column.name} ${filter.operator}`;
    case 'elements':
    case 'length':
    case 'json test':
    case 'near':
    case 'range test':
    case 'range is empty':
    case 'bound':
      return `${filter.kind} ${filter.column.name}`;
    case 'attributes':
      return `${filter.column.name} (${describeFilter(filter.filter)})`;
    case 'whole null test':
      return `${filter.kind} ${filter.isNull}`;
    case 'search':
      return `search by ${filter.search.mode}`;
    case 'distance':
      return `${filter.kind} ${filter.distance.column.name}`;
    case 'related rows':
    case 'related count':
      return `${filter.kind} ${filter.rows.fieldName}`;
    default:
      return `(${filter.filters.map(describeFilter).join(` ${filter.kind} `)})`;
  }
}

const plan = (...entries: InputEntry[]) => describeFilter(planFilter(object(...entries), account));

const one = object(on(id, { eq: constant('1') }));
const nodeIdOf = (table: string, ...keys: string[]): InputValue => ({
  kind: 'identifier',
  schema: 'public',
  table,
  elements: keys.map((value) => ({ kind: 'constant', value })),
});

describe('planFilter', () => {
  it('has no conditions for empty objects and lists', () => {
    assert.equal(planFilter(undefined, account), null);
    assert.equal(planFilter(null, account), null);
    assert.equal(plan(), null);
    assert.equal(plan(on(id, {})), null);
    assert.equal(plan({ name: 'id', binding: { at: 'filter', kind: 'column', column: id }, value: null }), null);
    for (const kind of ['and', 'or', 'not'] as const) {
      assert.equal(plan(entry(kind, null)), null);
      assert.equal(plan(entry(kind, object())), null);
      if (kind !== 'not') assert.equal(plan(entry(kind, list(object(), null, object(on(id, {}))))), null);
    }
  });

  it('drops empty parts of a filter', () => {
    assert.equal(plan(entry('or', list(one, object())), on(name, {})), 'id eq');
    assert.equal(plan(entry('not', object(entry('and', list())))), null);
  });

  it('requires every entry, and every operator of an entry', () => {
    assert.equal(
      plan(on(id, { gt: constant('1'), lt: constant('9') }), on(name, { like: constant('a%') })),
      '((id gt and id lt) and name like)',
    );
  });

  it('nests and, or and not, including single objects', () => {
    assert.equal(plan(entry('or', list(one, object(entry('not', one)))), entry('and', one)), '((id eq or not(id eq)) and id eq)');
  });

  it('tests for null with "is", and compares with null with all other operators', () => {
    assert.equal(plan(on(name, { is: { kind: 'choice', name: 'NULL' } })), 'name is null');
    assert.equal(plan(on(name, { is: { kind: 'choice', name: 'NOT_NULL' } })), 'name is not null');
    assert.throws(() => plan(on(name, { is: null })), { code: 'BAD_USER_INPUT', message: 'The operator "is" must be NULL or NOT_NULL.' });
    const filter = planFilter(object(on(name, { eq: null })), account);
    assert.ok(filter?.kind === 'comparison');
    assert.deepEqual(filter.parameter.value, { kind: 'constant', value: null });
  });

  it('binds the operand with the type of the column', () => {
    const filter = planFilter(object(on(id, { in: list(constant('1'), null) })), account);
    assert.ok(filter?.kind === 'comparison');
    assert.deepEqual(filter.parameter, {
      value: {
        kind: 'list',
        items: [
          { kind: 'constant', value: '1' },
          { kind: 'constant', value: null },
        ],
      },
      encoding: { kind: 'value', type: id.type, use: 'filter' },
    });
  });

  it('compares every column of the key with a nodeId', () => {
    const pair = tableWith('Pair', [columnOf('a', int4, { notNull: true }), columnOf('b', int4, { notNull: true })]);
    const byNodeId = (value: InputValue) => object(entry('node id', object({ name: 'eq', binding: undefined, value })));
    assert.equal(describeFilter(planFilter(byNodeId(nodeIdOf('pair', '1', '2')), pair)), '(a eq and b eq)');
    const fails = (value: InputValue, message: string) =>
      assert.throws(() => planFilter(byNodeId(value), pair), { code: 'BAD_USER_INPUT', message });
    fails(nodeIdOf('account', '1', '2'), 'The nodeId in the argument "filter" does not identify a record of type Pair.');
    fails(nodeIdOf('pair', '1'), 'The nodeId in the argument "filter" does not contain the key of type Pair.');
    fails(null, 'Expected a nodeId in the argument "filter".');
  });

  it('rejects relations nested too deep', () => {
    const nested = (levels: number): InputValue =>
      levels === 0 ? one : object({ name: 'twin', binding: { at: 'filter', kind: 'related rows', rows: twin }, value: nested(levels - 1) });
    assert.equal(planFilter(nested(50), account)?.kind, 'related rows');
    assert.throws(() => planFilter(nested(51), account), { code: 'QUERY_TOO_COMPLEX' });
  });
});
