/** Finds the relations that a plan follows in rows and filters, with the columns by which they find rows. */
import type { Relation } from '../model/model.ts';
import type {
  ConnectionPlan,
  EdgeValue,
  Filter,
  Member,
  Plan,
  ResponseValue,
  ResultPlan,
  RootValue,
  RowPlan,
  RowValue,
} from '../plan/plan.ts';
import type { FollowedRelation } from './advise.ts';

/** Repeats a relation each time the operation follows it. */
export function findRelations({ roots }: Plan): FollowedRelation[] {
  return roots.flatMap(({ value }) => ofRoot(value));
}

function ofRoot(value: RootValue): FollowedRelation[] {
  switch (value.kind) {
    case 'type name':
    case 'introspection':
      return [];
    case 'connection':
      return ofConnection(value);
    case 'lookup':
      return ofRow(value.row);
    case 'routine':
      return ofResult(value.result);
    default:
      return [...('filter' in value ? ofFilter(value.table.typeName, value.filter) : []), ...ofResponse(value.members)];
  }
}

function ofResponse(members: readonly Member<ResponseValue>[]): FollowedRelation[] {
  return members.flatMap(({ value }) => {
    if (value.kind === 'records') return ofRow(value.row);
    if (value.kind === 'query') return value.members.flatMap((member) => ofRoot(member.value));
    return value.kind === 'edges' ? ofEdge(value.members) : [];
  });
}

function ofFilter(typeName: string, filter: Filter | null): FollowedRelation[] {
  switch (filter?.kind) {
    case 'and':
    case 'or':
      return filter.filters.flatMap((part) => ofFilter(typeName, part));
    case 'not':
      return ofFilter(typeName, filter.filter);
    case 'related rows':
    case 'related count': {
      const { by, target } = filter.rows;
      return [...(by.kind === 'relation' ? [followed(typeName, by.relation)] : []), ...ofFilter(target.typeName, filter.filter)];
    }
    default:
      return [];
  }
}

function followed(typeName: string, { target, columns, fieldName }: Relation): FollowedRelation {
  const { schema, name } = target;
  return { schema, name, columns: columns.map((pair) => pair.target), field: `${typeName}.${fieldName}` };
}

function ofEdge(members: readonly Member<EdgeValue>[]): FollowedRelation[] {
  return members.flatMap(({ value }) => (value.kind === 'node' ? ofRow(value.row) : []));
}

function ofConnection({ table, filter, members }: ConnectionPlan): FollowedRelation[] {
  const shown = members.flatMap(({ value }) => (value.kind === 'edges' ? ofEdge(value.members) : []));
  return [...ofFilter(table.typeName, filter), ...shown];
}

function ofRow({ table, members }: RowPlan): FollowedRelation[] {
  return members.flatMap(({ value }) => ofMember(table.typeName, value));
}

function ofMember(typeName: string, value: RowValue): FollowedRelation[] {
  switch (value.kind) {
    case 'to-one':
    case 'to-many':
      return [followed(typeName, value.relation), ...(value.kind === 'to-one' ? ofRow(value.row) : ofConnection(value.connection))];
    case 'computed':
      return ofResult(value.result);
    case 'row column':
      return ofRow(value.row);
    default:
      return [];
  }
}

function ofResult(result: ResultPlan): FollowedRelation[] {
  if (result.kind === 'row' || result.kind === 'row list') return ofRow(result.row);
  return result.kind === 'rows' ? ofConnection(result.connection) : [];
}
