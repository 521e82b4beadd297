/** Plans selections on rows, connections and function results. */
import { ApiError } from '../errors/api-error.ts';
import type { Routine, Table } from '../model/model.ts';
import { argumentOf, bindingAt, type SelectedField } from '../request/operation.ts';
import type { ConnectionPlan, ConnectionValue, EdgeValue, Member, PageInfoValue, ResultPlan, RowPlan, RowValue } from './plan.ts';
import { planAggregate } from './plan-aggregate.ts';
import { planFilter } from './plan-filter.ts';
import { planGroups } from './plan-groups.ts';
import { planMembers } from './plan-members.ts';
import { planPage } from './plan-page.ts';

/** The deepest nesting of relations: each is a subquery inside the previous one, and PostgreSQL plans them together. */
const maxDepth = 50;

/** Plans what to read from a row. */
export function planRow(selection: readonly SelectedField[], table: Table, depth: number): RowPlan {
  if (depth > maxDepth)
    throw new ApiError('QUERY_TOO_COMPLEX', `The query nests relations more than ${maxDepth} levels deep. Select fewer levels.`);
  return { table, members: planMembers(selection, (field) => planRowField(field, depth + 1)) };
}

function planRowField(field: SelectedField, depth: number): RowValue {
  const { selection } = field;
  const binding = bindingAt('row', field);
  switch (binding.kind) {
    case 'column': {
      const { column } = binding;
      const { type } = column;
      if (type.kind !== 'row' && type.kind !== 'row list') return { kind: 'column', column };
      return { kind: 'row column', column, list: type.kind === 'row list', row: planRow(selection, type.table, depth) };
    }
    case 'node id':
      return { kind: 'node id' };
    case 'relation': {
      const { relation } = binding;
      if (relation.kind === 'to-one') return { kind: 'to-one', relation, row: planRow(selection, relation.target, depth) };
      return { kind: 'to-many', relation, connection: planConnection(field, relation.target, depth) };
    }
    case 'computed':
      return { kind: 'computed', routine: binding.routine, result: planResult(field, binding.routine, depth) };
  }
}

/** Plans what to read from a function's result. */
export function planResult(field: SelectedField, { result }: Routine, depth: number): ResultPlan {
  switch (result.kind) {
    case 'void':
      return { kind: 'void' };
    case 'value':
      return { kind: 'value', type: result.type };
    case 'row':
    case 'row list':
      return { kind: result.kind, row: planRow(field.selection, result.table, depth) };
    case 'rows':
      return { kind: 'rows', connection: planConnection(field, result.table, depth) };
  }
}

/** Plans a page of a collection and what to read from it. */
export function planConnection(field: SelectedField, table: Table, depth = 1): ConnectionPlan {
  return {
    kind: 'connection',
    table,
    page: planPage(field, table),
    filter: planFilter(argumentOf(field, 'filter'), table),
    members: planMembers<ConnectionValue>(field.selection, (member) => planConnectionField(member, table, depth)),
  };
}

function planConnectionField(field: SelectedField, table: Table, depth: number): ConnectionValue {
  const { selection } = field;
  switch (bindingAt('connection', field).kind) {
    case 'edges':
      return { kind: 'edges', members: planEdge(selection, table, depth) };
    case 'page info':
      return { kind: 'page info', members: planMembers<PageInfoValue>(selection, planPageInfoField) };
    case 'total count':
      return { kind: 'total count' };
    case 'aggregate':
      return { kind: 'aggregate', members: planAggregate(selection) };
    case 'groups':
      return { kind: 'groups', groups: planGroups(field, table) };
  }
}

/** Plans what to read from an edge. */
export function planEdge(selection: readonly SelectedField[], table: Table, depth: number): Member<EdgeValue>[] {
  return planMembers<EdgeValue>(selection, (member) => planEdgeField(member, table, depth));
}

function planEdgeField(field: SelectedField, table: Table, depth: number): EdgeValue {
  const { kind } = bindingAt('edge', field);
  return kind === 'cursor' ? { kind } : { kind, row: planRow(field.selection, table, depth) };
}

function planPageInfoField(field: SelectedField): PageInfoValue {
  return { kind: bindingAt('page info', field).kind };
}
