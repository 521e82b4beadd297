/**
 * The filter types: of scalars, lists of scalars and enums, of a table's rows, and of related rows. For the posts of a blog and the blog of
 * a post:
 *
 *     input BlogFilterToOne { name: StringFilter … is: FilterIs }
 *     input PostFilterToMany { some: PostFilter  every: PostFilter  none: PostFilter  count: IntFilter  where: PostFilter }
 */
import {
  GraphQLEnumType,
  GraphQLID,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
} from 'graphql';
import type { DomainType, Relation, Table, ValueType } from '../../model/model.ts';
import { filterTypeName, listFilterTypeName, type SharedTypeName } from '../../model/naming/graphql-names.ts';
import { filterableRows, hasColumnNamedIs, relationsTo } from '../../model/relations/related-rows.ts';
import { enumOperators, listOperators, type Operator, operators } from '../../model/types/operators.ts';
import { filteredScalars, listedScalars, type ScalarName, scalars } from '../../model/types/scalars.ts';
import type { AdditionName } from '../../settings/additions.ts';
import { bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import { inputType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, columnInputs, scalarTypes } from '../value-types.ts';

export const filterIs = new GraphQLEnumType({ name: 'FilterIs' satisfies SharedTypeName, values: { NULL: {}, NOT_NULL: {} }, ...asChoice });

/** A filter with these operators, and `is` if it is given. */
function operatorsType(
  name: string,
  described: string,
  names: readonly Operator[],
  typeOf: (operator: Operator) => GraphQLInputType,
  is?: GraphQLEnumType,
): GraphQLInputObjectType {
  const fields: [string, GraphQLInputFieldConfig][] = names.map((operator) => {
    return [operator, { type: typeOf(operator), ...bindInput('operators', { kind: 'operator', operator }) }];
  });
  if (is) fields.push(['is', { type: is, ...bindInput('operators', { kind: 'is' }) }]);
  return new GraphQLInputObjectType({
    name,
    description: `Boolean expression comparing fields on type "${described}"`,
    fields: Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1))),
  });
}

function valueFilter(type: GraphQLScalarType | GraphQLEnumType, names: readonly Operator[]): GraphQLInputObjectType {
  const list = new GraphQLList(new GraphQLNonNull(type));
  return operatorsType(filterTypeName(type.name), type.name, names, (name) => (operators[name].takesList ? list : type), filterIs);
}

export function listFilter(type: GraphQLScalarType | GraphQLEnumType): GraphQLInputObjectType {
  const list = new GraphQLList(new GraphQLNonNull(type));
  return operatorsType(listFilterTypeName(type.name), `${type.name}List`, listOperators, () => list, filterIs);
}

const scalarFilters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  filteredScalars.map((name) => [name, valueFilter(scalarTypes[name], scalars[name].operators)]),
);
const listFilters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  listedScalars.map((name) => [name, listFilter(scalarTypes[name])]),
);

export const idFilter = operatorsType(filterTypeName(GraphQLID.name), GraphQLID.name, ['eq'], () => GraphQLID);

/** The filter types of scalars and lists, which every schema has. */
export const scalarFilterTypes: readonly GraphQLInputObjectType[] = [...scalarFilters.values(), ...listFilters.values()];

export function enumFilter(type: GraphQLEnumType): GraphQLInputObjectType {
  return valueFilter(type, enumOperators);
}

/** The filter of a domain: that of the type it is based on, or of Opaque if that has none. */
export function domainFilter(type: GraphQLScalarType, { base }: DomainType): GraphQLInputObjectType {
  if (base.kind === 'enum') return valueFilter(type, enumOperators);
  const names = scalars[base.scalar].operators;
  return valueFilter(type, names.length > 0 ? names : scalars.Opaque.operators);
}

/** The filter type for a column of this type; undefined for JSON, its lists, and rows. */
function filterTypeOf(type: ValueType, registry: TypeRegistry): GraphQLInputObjectType | undefined {
  const of = type.kind === 'list' ? type.element : type;
  const nameOf = type.kind === 'list' ? listFilterTypeName<string> : filterTypeName<string>;
  const typeName = of.kind === 'enum' ? of.enum.typeName : of.kind === 'scalar' ? of.domain?.typeName : undefined;
  if (typeName !== undefined && registry.has(nameOf(typeName))) return registry.input(nameOf(typeName));
  if (of.kind !== 'scalar') return undefined;
  return (type.kind === 'list' ? listFilters : scalarFilters).get(of.scalar);
}

/** The filter of every table, and those that tables with the addition which refer to it have. */
export const filterTypes = {
  Filter: inputType(() => true, filterFields),
  FilterToOne: inputType(
    (table, registry) => hasReferrer(table, registry, 'relationFilters', 'to-one'),
    toOneFields,
    (typeName) => `Filters records by their related \`${typeName}\` record`,
  ),
  FilterToMany: inputType(
    (table, registry) => hasReferrer(table, registry, 'relationFilters', 'to-many'),
    toManyFields,
    (typeName) => `Filters records by their related \`${typeName}\` records`,
  ),
} as const satisfies Partial<TableTypes>;

function filterFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const self = registry.inputOf(table, 'Filter');
  const list = new GraphQLList(new GraphQLNonNull(self));
  const comparable = table.columns.filter((column) => column.selectable && column.comparable);
  const columns = columnInputs('filter', comparable, 'filterName', ({ type }) => filterTypeOf(type, registry));
  // The order of keys is pg_graphql's. A column with the name of a combinator replaces it.
  return {
    ...columns,
    [registry.nodeIdField]: { type: idFilter, ...bindInput('filter', { kind: 'node id' }) },
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
    ...columns,
    ...relatedRowsFields(registry, table),
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

/** Whether a table with this addition has a relation or computed field that leads to one row of `table` (or to many). */
export function hasReferrer(table: Table, registry: TypeRegistry, addition: AdditionName, kind: Relation['kind']): boolean {
  const result = kind === 'to-one' ? 'row' : 'rows';
  return table.referrers.some(
    (referrer) =>
      referrer.additions.has(addition) &&
      registry.hasOf(referrer, 'Filter') &&
      (relationsTo(referrer, table).some((relation) => relation.kind === kind && !relation.onlyInRows) ||
        referrer.computed.some((routine) => routine.result.kind === result && routine.result.table === table)),
  );
}
