/**
 * The input types that filter rows by the rows they are related to. For the posts of a blog and the blog of a post:
 *
 *     input BlogFilterToOne { name: StringFilter … is: FilterIs }
 *     input PostFilterToMany { some: PostFilter  every: PostFilter  none: PostFilter  count: IntFilter  where: PostFilter }
 */
import { type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import { filterTypeName, tableTypeName } from '../model/graphql-names.ts';
import type { Table } from '../model/model.ts';
import { filterableRows, hasColumnNamedIs } from '../model/related-rows.ts';
import { bindInput } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { filterIs } from './filter-types.ts';
import type { TypeRegistry } from './type-registry.ts';

/** The fields of a table's own filter, which the filter of one related row has too. */
export type FilterFields = (table: Table) => GraphQLInputFieldConfigMap;

/** Defines the filters of those tables to which others with this addition are related. */
export function* defineRelationFilters(
  registry: TypeRegistry,
  tables: readonly Table[],
  filterFields: FilterFields,
): Generator<void, void> {
  const [one, many] = yield* targetsOf(tables);
  for (const table of tables) {
    if (one.has(table)) registry.define(tableTypeName(table, 'FilterToOne'), () => filterToOne(table, filterFields));
    if (many.has(table)) registry.define(tableTypeName(table, 'FilterToMany'), () => filterToMany(registry, table));
    yield;
  }
}

/** Which tables are related to as one row, and which as many. */
function* targetsOf(tables: readonly Table[]): Generator<void, readonly [one: ReadonlySet<Table>, many: ReadonlySet<Table>]> {
  const [one, many] = [new Set<Table>(), new Set<Table>()];
  for (const { additions, relations, computed } of tables) {
    if (!additions.has('relationFilters')) continue;
    for (const { kind, target } of relations) (kind === 'to-one' ? one : many).add(target);
    for (const { result } of computed) {
      if (result.kind === 'row') one.add(result.table);
      else if (result.kind === 'rows') many.add(result.table);
    }
    yield;
  }
  return [one, many];
}

/** The fields of a table's filter by what its rows are related to. */
export function relationFilterFields(registry: TypeRegistry, table: Table, nodeIdField: string): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  if (!table.additions.has('relationFilters')) return fields;
  for (const rows of filterableRows(table, nodeIdField).usable) {
    const name = tableTypeName(rows.target, rows.many ? 'FilterToMany' : 'FilterToOne');
    fields[rows.fieldName] = { type: registry.input(name), ...bindInput({ kind: 'related rows', rows }) };
  }
  return fields;
}

function filterToOne(table: Table, filterFields: FilterFields): GraphQLInputObjectType {
  const is = {
    type: filterIs,
    description: `Whether there is a \`${table.typeName}\` that the role may read`,
    ...bindInput({ kind: 'is' }),
  };
  return new GraphQLInputObjectType({
    name: tableTypeName(table, 'FilterToOne'),
    description: `Filters rows by the \`${table.typeName}\` that they are related to`,
    fields: () => ({ ...filterFields(table), ...(!hasColumnNamedIs(table) && { is }) }),
  });
}

function filterToMany(registry: TypeRegistry, table: Table): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: tableTypeName(table, 'FilterToMany'),
    description: `Filters rows by the collection of \`${table.typeName}\` that they are related to`,
    fields: () => {
      const type = registry.input(tableTypeName(table, 'Filter'));
      const quantified = (kind: 'some' | 'every' | 'none', description: string) => ({ type, description, ...bindInput({ kind }) });
      return {
        some: quantified('some', 'At least one of them matches the filter'),
        every: quantified('every', 'All of them match the filter, or there are none'),
        none: quantified('none', 'None of them matches the filter'),
        count: {
          type: registry.input(filterTypeName('Int')),
          description: 'How many of them there are, or match `where`',
          ...bindInput({ kind: 'count' }),
        },
        where: { type, description: 'Which of them `count` counts', ...bindInput({ kind: 'where' }) },
      };
    },
  });
}
