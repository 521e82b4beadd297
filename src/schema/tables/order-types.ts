/**
 * The input types that order rows: by columns, related rows and computed fields. For the posts of a blog and the blog of a post:
 *
 *     input PostOrderBy { title: OrderByDirection … blog: BlogOrderBy }
 *     input BlogOrderBy { name: OrderByDirection … postCollection: PostOrderByToMany }
 *     input PostOrderByToMany { count: OrderByDirection  sum: PostOrderBySum … }
 *
 * And the enum of the columns by which rows can be told apart: `enum PostDistinctColumn { title … }`.
 */
import {
  type GraphQLArgumentConfig,
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { orderableFields } from '../../model/relations/related-rows.ts';
import { distinctColumns, hasJsonPaths, membersName, membersOf, pathName } from '../../model/tables/column-uses.ts';
import type { OrderAggregate } from '../../model/types/postgres-types.ts';
import { bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import { inputType, type TableType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, columnInputs, orderByDirection } from '../value-types.ts';
import { aggregateScalar } from './aggregate-types.ts';
import { hasReferrer } from './filter-types.ts';
import { depthOrder } from './lineage-types.ts';
import { searchOrder } from './search-types.ts';

const aggregates = {
  sum: { suffix: 'OrderBySum', of: 'sums' },
  avg: { suffix: 'OrderByAvg', of: 'averages' },
  min: { suffix: 'OrderByMin', of: 'minimums' },
  max: { suffix: 'OrderByMax', of: 'maximums' },
} as const satisfies Record<OrderAggregate, unknown>;
const aggregateNames = ['sum', 'avg', 'min', 'max'] as const satisfies readonly OrderAggregate[];

/** The order of tables with orderable columns, and those that tables with the addition which refer to it have. */
export const orderTypes = {
  OrderBy: inputType(hasOrder, orderFields),
  OrderByToMany: inputType(isOrderedBy, toManyFields, (typeName) => `Orders records by their related \`${typeName}\` records`),
  OrderBySum: orderOf('sum'),
  OrderByAvg: orderOf('avg'),
  OrderByMin: orderOf('min'),
  OrderByMax: orderOf('max'),
  DistinctColumn: {
    has: (table) => distinctColumns(table).size > 0,
    build: (table, _registry, name) => {
      const values = Object.fromEntries([...distinctColumns(table).keys()].map((column) => [column, {}]));
      return new GraphQLEnumType({
        name,
        description: `The fields by which \`${table.typeName}\` records can differ`,
        values,
        ...asChoice,
      });
    },
  },
} as const satisfies Partial<TableTypes>;

function isOrderKey(column: Column): boolean {
  return column.selectable && column.orderable;
}

/** Whether rows can be ordered by any of the columns. */
export function hasOrder(table: Table, registry: TypeRegistry): boolean {
  return table.columns.some((column) => orderTypeOf(column, table, registry) !== undefined);
}

/** The input of a column in the order; undefined if rows cannot be ordered by it. */
function orderTypeOf(column: Column, table: Table, registry: TypeRegistry): GraphQLEnumType | GraphQLInputObjectType | undefined {
  if (column.shape === null && isOrderKey(column)) return orderByDirection;
  if (hasJsonPaths(column, table)) return registry.jsonTypes === null ? undefined : registry.input(registry.jsonTypes.order);
  return memberOrderOf(column, table, registry);
}

/** The input that orders rows by the members of a column; undefined without any. */
function memberOrderOf(column: Column, table: Table, registry: TypeRegistry): GraphQLInputObjectType | undefined {
  const name = (column.selectable && membersOf(column, table)?.composite?.orderName) || null;
  return name !== null && registry.has(name) ? registry.input(name) : undefined;
}

/** The order by columns, or by the attributes of a composite type; and by what is in a column that has its name for the whole of it. */
export function columnOrders(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  for (const column of table.columns) {
    const type = orderTypeOf(column, table, registry);
    if (type) fields[column.fieldName] = { type, ...bindInput('order', { kind: 'column', column }) };
  }
  for (const column of table.columns.filter((each) => hasJsonPaths(each, table))) {
    const name = pathName(column.fieldName, column.orderable);
    if (registry.jsonTypes === null || (column.orderable && Object.hasOwn(fields, name))) continue;
    fields[name] = { type: registry.input(registry.jsonTypes.order), ...bindInput('order', { kind: 'json value', column }) };
  }
  for (const column of table.columns.filter((each) => each.shape === null && isOrderKey(each))) {
    const [name, type] = [membersName(column.fieldName, true), memberOrderOf(column, table, registry)];
    if (type && !Object.hasOwn(fields, name)) fields[name] = { type, ...bindInput('order', { kind: 'column', column }) };
  }
  return fields;
}

function isOrderedBy(table: Table, registry: TypeRegistry): boolean {
  return hasReferrer(table, registry, 'order', 'to-many');
}

function orderOf(name: OrderAggregate): TableType {
  return inputType(
    (table, registry) => hasOrderOf(table, name) && isOrderedBy(table, registry),
    (_, table) => columnInputs('order column', columnsOf(table, name), 'fieldName', () => orderByDirection),
    (typeName) => `Orders records by ${aggregates[name].of} over their related \`${typeName}\` records`,
  );
}

/** Clients may order by aggregates only if the table's directive enables them. */
function hasOrderOf(table: Table, name: OrderAggregate): boolean {
  return table.aggregate && columnsOf(table, name).length > 0;
}

function columnsOf({ columns }: Table, name: OrderAggregate): Column[] {
  return columns.filter((column) => column.selectable && aggregateScalar(name, column));
}

function orderFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const fields = plainOrderFields(registry, table);
  return { ...searchOrder(table, fields), ...fields, ...depthOrder(table, fields) };
}

function plainOrderFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const fields = columnOrders(registry, table);
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

function toManyFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  fields.count = { type: orderByDirection, description: 'The number of related records', ...bindInput('order to many', { kind: 'count' }) };
  for (const name of aggregateNames) {
    const type = hasOrderOf(table, name) && registry.inputOf(table, aggregates[name].suffix);
    if (type) fields[name] = { type, ...bindInput('order to many', { kind: 'aggregate function', name }) };
  }
  return fields;
}

/** The argument `orderBy`; empty if the table has no orderable columns. */
export function orderArgument(registry: TypeRegistry, table: Table, description: string): { readonly orderBy?: GraphQLArgumentConfig } {
  if (!registry.hasOf(table, 'OrderBy')) return {};
  return { orderBy: { type: new GraphQLList(new GraphQLNonNull(registry.inputOf(table, 'OrderBy'))), description } };
}

/** The argument `distinctOn`; empty if the table has no such columns, or a function has another argument of that name. */
export function distinctArgument(
  registry: TypeRegistry,
  table: Table,
  others: GraphQLFieldConfigArgumentMap,
): { readonly distinctOn?: GraphQLArgumentConfig } {
  if (!registry.hasOf(table, 'DistinctColumn') || Object.hasOwn(others, 'distinctOn')) return {};
  const description = 'Only the first record of those with equal values in these fields, which come first in the order';
  return { distinctOn: { type: new GraphQLList(new GraphQLNonNull(registry.enumOf(table, 'DistinctColumn'))), description } };
}
