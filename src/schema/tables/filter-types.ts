/**
 * The filter types of a table's rows, of composite values, and of related rows. For the posts of a blog and the blog of a post:
 *
 *     input BlogFilterToOne { name: StringFilter … is: FilterIs }
 *     input PostFilterToMany { some: PostFilter  every: PostFilter  none: PostFilter  count: IntFilter  where: PostFilter }
 */
import { type GraphQLInputFieldConfigMap, type GraphQLInputObjectType, GraphQLList, GraphQLNonNull } from 'graphql';
import type { Relation, Table } from '../../model/model.ts';
import { filterTypeName } from '../../model/naming/graphql-names.ts';
import { filterableRows, hasColumnNamedIs, relationsTo, takenNames } from '../../model/relations/related-rows.ts';
import { bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import { inputType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { columnInputs } from '../value-types.ts';
import { searchFilter } from './search-types.ts';
import { filterIs, filterTypeOf, idFilter } from './value-filters.ts';

/** The filter of every table, and those that tables with the addition which refer to it have. */
export const filterTypes = {
  Filter: inputType(() => true, filterFields),
  FilterToOne: inputType(
    (table, registry) => hasReferrer(table, registry, 'filter', 'to-one'),
    toOneFields,
    (typeName) => `Filters records by their related \`${typeName}\` record`,
  ),
  FilterToMany: inputType(
    (table, registry) => hasReferrer(table, registry, 'filter', 'to-many') || filtersLineages(table),
    toManyFields,
    (typeName) => `Filters records by their related \`${typeName}\` records`,
  ),
} as const satisfies Partial<TableTypes>;

/** Only a table that refers to itself has lineages, which is known without building it. */
function filtersLineages(table: Table): boolean {
  return table.additions.has('relationFilters') && table.referrers.includes(table) && table.lineages.length > 0;
}

function filterFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const columns = columnFilters(registry, table);
  // The order of keys is pg_graphql's. A column with the name of a combinator replaces it.
  const fields = {
    ...columns,
    [registry.nodeIdField]: { type: idFilter, ...bindInput('filter', { kind: 'node id' }) },
    ...combinators(registry.inputOf(table, 'Filter')),
    ...columns,
    ...relatedRowsFields(registry, table),
  };
  return { ...fields, ...searchFilter(registry, table, fields) };
}

/** The filters of columns, or of the attributes of a composite type. */
export function columnFilters(registry: TypeRegistry, { columns, additions }: Table): GraphQLInputFieldConfigMap {
  const comparable = columns.filter((column) => column.selectable && column.comparable);
  return columnInputs('filter', comparable, 'filterName', ({ type, shape }) => {
    if (shape !== null) return compositeFilterOf(shape.table, shape.isList, registry);
    if (type.kind === 'row' || type.kind === 'row list')
      return additions.has('composites') ? compositeFilterOf(type.table, type.kind === 'row list', registry) : undefined;
    return filterTypeOf(type, registry, additions);
  });
}

function compositeFilterOf({ composite }: Table, isList: boolean, registry: TypeRegistry): GraphQLInputObjectType | undefined {
  const name = (isList ? composite?.listFilterName : composite?.filterName) ?? null;
  return name !== null && registry.has(name) ? registry.input(name) : undefined;
}

export function combinators(self: GraphQLInputObjectType): GraphQLInputFieldConfigMap {
  const list = new GraphQLList(new GraphQLNonNull(self));
  return {
    and: {
      type: list,
      description: 'Returns true only if all its inner filters are true, otherwise returns false',
      ...bindInput('filter', { kind: 'and' }),
    },
    or: {
      type: list,
      description: 'Returns true if at least one of its inner filters is true, otherwise returns false',
      ...bindInput('filter', { kind: 'or' }),
    },
    not: { type: self, description: 'Negates a filter', ...bindInput('filter', { kind: 'not' }) },
  };
}

function relatedRowsFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  if (!table.additions.has('relationFilters')) return fields;
  for (const rows of filterableRows(table, registry.nodeIdField).usable) {
    const type = registry.inputOf(rows.target, rows.many ? 'FilterToMany' : 'FilterToOne');
    fields[rows.fieldName] = { type, ...bindInput('filter', { kind: 'related rows', rows }) };
  }
  return fields;
}

function toOneFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const is = {
    type: filterIs,
    description: `Whether there is a related \`${table.typeName}\` record that the role may read`,
    ...bindInput('filter to one', { kind: 'is' }),
  };
  return { ...filterFields(registry, table), ...(!hasColumnNamedIs(table) && { is }) };
}

function toManyFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
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
}

/** Whether the filter or the order of a table has a relation or computed field that leads to one row of `table` (or to many). */
export function hasReferrer(table: Table, registry: TypeRegistry, at: 'filter' | 'order', kind: Relation['kind']): boolean {
  const result = kind === 'to-one' ? 'row' : 'rows';
  const addition = at === 'filter' ? 'relationFilters' : 'relationOrder';
  return table.referrers.some((referrer) => {
    if (!referrer.additions.has(addition) || !registry.hasOf(referrer, 'Filter')) return false;
    const fields = [
      ...relationsTo(referrer, table).filter((relation) => relation.kind === kind && !relation.onlyInRows),
      ...referrer.computed.filter(
        (routine) =>
          !routine.volatile && routine.arguments.length === 0 && routine.result.kind === result && routine.result.table === table,
      ),
    ];
    if (fields.length === 0) return false;
    const taken = takenNames(referrer, at, registry.nodeIdField);
    return fields.some(({ fieldName }) => !taken.has(fieldName));
  });
}
