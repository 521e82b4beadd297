/**
 * The input types that order rows by the rows they are related to, and by computed fields. For the posts of a blog and the blog of a post:
 *
 *     input PostOrderBy { title: OrderByDirection … blog: BlogOrderBy }
 *     input BlogOrderBy { name: OrderByDirection … postCollection: PostOrderByToMany }
 *     input PostOrderByToMany { count: OrderByDirection  sum: PostOrderBySum … }
 */
import { type GraphQLEnumType, type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import { tableTypeName } from '../model/graphql-names.ts';
import type { Table } from '../model/model.ts';
import { orderableFields } from '../model/related-rows.ts';
import { aggregateScalar } from './aggregate-functions.ts';
import { bindInput, type OrderAggregate } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import type { TypeRegistry } from './type-registry.ts';

const aggregates: readonly { name: OrderAggregate; suffix: 'OrderBySum' | 'OrderByAvg' | 'OrderByMin' | 'OrderByMax'; of: string }[] = [
  { name: 'sum', suffix: 'OrderBySum', of: 'sums' },
  { name: 'avg', suffix: 'OrderByAvg', of: 'averages' },
  { name: 'min', suffix: 'OrderByMin', of: 'minimums' },
  { name: 'max', suffix: 'OrderByMax', of: 'maximums' },
];

/** Defines the orders of those tables to which others with this addition are related as many rows. `direction` is the type of a direction. */
export function* defineRelationOrders(registry: TypeRegistry, tables: readonly Table[], direction: GraphQLEnumType): Generator<void, void> {
  const many = new Set<Table>();
  for (const { additions, relations, computed } of tables) {
    if (!additions.has('relationOrder')) continue;
    for (const { kind, target } of relations) if (kind === 'to-many') many.add(target);
    for (const { result } of computed) if (result.kind === 'rows') many.add(result.table);
    yield;
  }
  for (const table of tables) {
    if (many.has(table)) defineOrderByToMany(registry, table, direction);
    yield;
  }
}

/** The fields of a table's order for what its rows are related to, and for its computed fields. */
export function relationOrderFields(registry: TypeRegistry, table: Table, direction: GraphQLEnumType): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  if (!table.additions.has('relationOrder')) return fields;
  const { rows: related, values } = orderableFields(table);
  for (const rows of related) {
    const name = tableTypeName(rows.target, rows.many ? 'OrderByToMany' : 'OrderBy');
    // Rows without a column that has an order have no such type.
    if (registry.has(name)) fields[rows.fieldName] = { type: registry.input(name), ...bindInput({ kind: 'related rows', rows }) };
  }
  for (const routine of values) fields[routine.fieldName] = { type: direction, ...bindInput({ kind: 'computed', routine }) };
  return fields;
}

function defineOrderByToMany(registry: TypeRegistry, table: Table, direction: GraphQLEnumType): void {
  // Aggregates are for clients only where the directive of the table enables them.
  const present = table.aggregate ? aggregates.filter(({ name }) => columnsOf(table, name).length > 0) : [];
  for (const { name, suffix, of } of present) {
    registry.define(tableTypeName(table, suffix), () => {
      const fields: GraphQLInputFieldConfigMap = emptyRecord();
      for (const column of columnsOf(table, name)) fields[column.fieldName] = { type: direction, ...bindInput({ kind: 'column', column }) };
      const description = `Orders rows by ${of} over the collection of \`${table.typeName}\` that they are related to`;
      return new GraphQLInputObjectType({ name: tableTypeName(table, suffix), description, fields });
    });
  }
  registry.define(tableTypeName(table, 'OrderByToMany'), () => {
    const fields: GraphQLInputFieldConfigMap = emptyRecord();
    fields.count = { type: direction, description: 'How many of them there are', ...bindInput({ kind: 'count' }) };
    for (const { name, suffix } of present) {
      fields[name] = { type: registry.input(tableTypeName(table, suffix)), ...bindInput({ kind: 'aggregate function', name }) };
    }
    const description = `Orders rows by the collection of \`${table.typeName}\` that they are related to`;
    return new GraphQLInputObjectType({ name: tableTypeName(table, 'OrderByToMany'), description, fields });
  });
}

function columnsOf({ columns }: Table, name: OrderAggregate) {
  return columns.filter((column) => column.selectable && aggregateScalar(name, column));
}
