/**
 * The input types that order rows by related rows and computed fields. For the posts of a blog and the blog of a post:
 *
 *     input PostOrderBy { title: OrderByDirection … blog: BlogOrderBy }
 *     input BlogOrderBy { name: OrderByDirection … postCollection: PostOrderByToMany }
 *     input PostOrderByToMany { count: OrderByDirection  sum: PostOrderBySum … }
 */
import { type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import type { Table } from '../../model/model.ts';
import { orderableFields } from '../../model/relations/related-rows.ts';
import type { OrderAggregate } from '../../model/types/postgres-types.ts';
import { bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-fields.ts';
import type { TableType, TableTypes, TypeRegistry } from '../lazy/type-registry.ts';
import { orderByDirection } from '../value-types.ts';
import { aggregateScalar } from './aggregate-types.ts';
import { hasReferrer } from './filter-types.ts';

const aggregates: readonly { name: OrderAggregate; suffix: 'OrderBySum' | 'OrderByAvg' | 'OrderByMin' | 'OrderByMax'; of: string }[] = [
  { name: 'sum', suffix: 'OrderBySum', of: 'sums' },
  { name: 'avg', suffix: 'OrderByAvg', of: 'averages' },
  { name: 'min', suffix: 'OrderByMin', of: 'minimums' },
  { name: 'max', suffix: 'OrderByMax', of: 'maximums' },
];

/** The types of tables that other tables with this addition have to-many relations to. */
export const relationOrderTypes = {
  OrderByToMany: { has: isOrderedBy, build: orderByToMany },
  OrderBySum: orderOf('sum'),
  OrderByAvg: orderOf('avg'),
  OrderByMin: orderOf('min'),
  OrderByMax: orderOf('max'),
} as const satisfies Partial<TableTypes>;

function isOrderedBy(table: Table, registry: TypeRegistry): boolean {
  return hasReferrer(table, registry, 'relationOrder', 'to-many');
}

function orderOf(name: OrderAggregate): TableType {
  return {
    has: (table, registry) => hasOrderOf(table, name) && isOrderedBy(table, registry),
    build: (table, _registry, typeName) => orderByAggregate(table, name, typeName),
  };
}

/** Clients may order by aggregates only if the table's directive enables them. */
function hasOrderOf(table: Table, name: OrderAggregate): boolean {
  return table.aggregate && columnsOf(table, name).length > 0;
}

/** The fields of a table's order for related rows and computed fields. */
export function relationOrderFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  if (!table.additions.has('relationOrder')) return fields;
  const { rows: related, values } = orderableFields(table);
  for (const rows of related) {
    const suffix = rows.many ? 'OrderByToMany' : 'OrderBy';
    // Tables without orderable columns have no `OrderBy` type.
    if (!registry.hasOf(rows.target, suffix)) continue;
    fields[rows.fieldName] = { type: registry.inputOf(rows.target, suffix), ...bindInput('order', { kind: 'related rows', rows }) };
  }
  for (const routine of values)
    fields[routine.fieldName] = { type: orderByDirection, ...bindInput('order', { kind: 'computed', routine }) };
  return fields;
}

function orderByAggregate(table: Table, name: OrderAggregate, typeName: string): GraphQLInputObjectType {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  for (const column of columnsOf(table, name)) {
    fields[column.fieldName] = { type: orderByDirection, ...bindInput('order column', { kind: 'column', column }) };
  }
  const { of } = aggregates.find((each) => each.name === name)!;
  const description = `Orders records by ${of} over their related \`${table.typeName}\` records`;
  return new GraphQLInputObjectType({ name: typeName, description, fields });
}

function orderByToMany(table: Table, registry: TypeRegistry, typeName: string): GraphQLInputObjectType {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  fields.count = { type: orderByDirection, description: 'The number of related records', ...bindInput('order to many', { kind: 'count' }) };
  for (const { name, suffix } of aggregates) {
    if (hasOrderOf(table, name))
      fields[name] = { type: registry.inputOf(table, suffix), ...bindInput('order to many', { kind: 'aggregate function', name }) };
  }
  const description = `Orders records by their related \`${table.typeName}\` records`;
  return new GraphQLInputObjectType({ name: typeName, description, fields });
}

function columnsOf({ columns }: Table, name: OrderAggregate) {
  return columns.filter((column) => column.selectable && aggregateScalar(name, column));
}
