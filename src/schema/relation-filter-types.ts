/**
 * The input types that filter rows by related rows. For the posts of a blog and the blog of a post:
 *
 *     input BlogFilterToOne { name: StringFilter … is: FilterIs }
 *     input PostFilterToMany { some: PostFilter  every: PostFilter  none: PostFilter  count: IntFilter  where: PostFilter }
 */
import { type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import { filterTypeName } from '../model/graphql-names.ts';
import type { Table } from '../model/model.ts';
import { filterableRows, hasColumnNamedIs } from '../model/related-rows.ts';
import { bindInput } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { filterIs } from './filter-types.ts';
import { hasReferrer } from './has-referrer.ts';
import type { TableTypes, TypeRegistry } from './type-registry.ts';

/** The types of tables that other tables with this addition refer to. `filterFields` builds the fields of a table's own filter. */
export function relationFilterTypes(filterFields: FilterFields) {
  return {
    FilterToOne: {
      has: (table, registry) => hasReferrer(table, registry, 'relationFilters', 'to-one'),
      build: (table, registry, name) => filterToOne(table, name, () => filterFields(registry, table)),
    },
    FilterToMany: { has: (table, registry) => hasReferrer(table, registry, 'relationFilters', 'to-many'), build: filterToMany },
  } as const satisfies Partial<TableTypes>;
}

type FilterFields = (registry: TypeRegistry, table: Table) => GraphQLInputFieldConfigMap;

/** The fields of a table's filter for related rows. */
export function relationFilterFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  if (!table.additions.has('relationFilters')) return fields;
  for (const rows of filterableRows(table, registry.nodeIdField).usable) {
    const type = registry.inputOf(rows.target, rows.many ? 'FilterToMany' : 'FilterToOne');
    fields[rows.fieldName] = { type, ...bindInput('filter', { kind: 'related rows', rows }) };
  }
  return fields;
}

function filterToOne(table: Table, name: string, filterFields: () => GraphQLInputFieldConfigMap): GraphQLInputObjectType {
  const is = {
    type: filterIs,
    description: `Whether there is a related \`${table.typeName}\` record that the role may read`,
    ...bindInput('filter to one', { kind: 'is' }),
  };
  return new GraphQLInputObjectType({
    name,
    description: `Filters records by their related \`${table.typeName}\` record`,
    fields: () => ({ ...filterFields(), ...(!hasColumnNamedIs(table) && { is }) }),
  });
}

function filterToMany(table: Table, registry: TypeRegistry, name: string): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name,
    description: `Filters records by their related \`${table.typeName}\` records`,
    fields: () => {
      const type = registry.inputOf(table, 'Filter');
      const quantified = (kind: 'some' | 'every' | 'none', description: string) => ({
        type,
        description,
        ...bindInput('filter to many', { kind }),
      });
      return {
        some: quantified('some', 'At least one of them matches the filter'),
        every: quantified('every', 'All of them match the filter, or there are none'),
        none: quantified('none', 'None of them matches the filter'),
        count: {
          type: registry.input(filterTypeName('Int')),
          description: 'The number of related records, or of those that match `where`',
          ...bindInput('filter to many', { kind: 'count' }),
        },
        where: { type, description: 'The related records that `count` counts', ...bindInput('filter to many', { kind: 'where' }) },
      };
    },
  });
}
