import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { columnOf, int4, tableWith } from '../../../test/support/sample-model.ts';
import type { Relation, Table } from '../../model/model.ts';
import type { InputEntry, InputValue, SelectedField } from '../../request/operation.ts';
import type { InputBinding } from '../../schema/bindings.ts';
import type { GroupsPlan } from '../plan.ts';
import { planGroups } from './groups.ts';

const column = columnOf('n', int4);
const relations: Relation[] = [];
const table: Table = tableWith('Node', [column], { relations });
const parent: Relation = {
  fieldName: 'parent',
  kind: 'to-one',
  target: table,
  holdsKey: true,
  columns: [],
  nullable: true,
  unique: true,
  onlyInRows: false,
  sameRow: false,
};
relations.push(parent);

const object = (...entries: InputEntry[]): InputValue => ({ kind: 'object', entries });
const entry = (name: string, binding: InputBinding, value: InputValue): InputEntry => ({ name, binding, value });
const byValue = object(entry('n', { at: 'group by', kind: 'column', column }, { kind: 'choice', name: 'VALUE' }));
const byParent = (value: InputValue): InputValue => object(entry('parent', { at: 'group by', kind: 'relation', relation: parent }, value));

function plan(by: readonly InputValue[]): GroupsPlan {
  const field: SelectedField = {
    key: 'groups',
    name: 'groups',
    parentType: 'NodeConnection',
    binding: { at: 'connection', kind: 'groups' },
    arguments: [{ name: 'by', binding: undefined, value: { kind: 'list', items: by } }],
    unsent: [],
    selection: [],
    on: () => [],
  };
  return planGroups(field, table);
}

/** An element for each depth: the row's own column, its parent's, and so on. */
function byAncestors(count: number): InputValue[] {
  const elements = [byValue];
  while (elements.length < count) elements.push(byParent(elements.at(-1)!));
  return elements;
}

describe('groups', () => {
  it('distinguish columns of one table by the relations that lead to them', () => {
    assert.deepEqual(
      plan(byAncestors(3)).by.map(({ path }) => path.length),
      [0, 1, 2],
    );
  });

  it('limit the depth of relations and the number of columns', () => {
    assert.equal(plan(byAncestors(51)).by.length, 51);
    assert.throws(() => plan(byAncestors(52)), { code: 'QUERY_TOO_COMPLEX', message: /nests relations more than 50 levels deep/ });
    const columns = Array.from({ length: 10_000 }, () => byValue);
    assert.throws(() => plan(columns), { code: 'QUERY_TOO_COMPLEX', message: /more than 100 elements/ });
  });

  it('are ordered by their keys', () => {
    assert.deepEqual(plan(byAncestors(2)).order, [
      { of: { kind: 'key', number: 0 }, descending: false, nullsFirst: false },
      { of: { kind: 'key', number: 1 }, descending: false, nullsFirst: false },
    ]);
  });
});
