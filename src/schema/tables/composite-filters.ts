/**
 * The filters and orders of composite types, by their attributes, and the filters of arrays of them, by their elements:
 *
 *     input PlaceFilter { city: StringFilter  spot: SpotFilter  stops: SpotListFilter … is: FilterIs  and: [PlaceFilter!] … }
 *     input SpotListFilter { any: SpotFilter  all: SpotFilter  length: IntFilter  is: FilterIs }
 *     input PlaceOrderBy { city: OrderByDirection  spot: SpotOrderBy … }
 */
import { GraphQLInputObjectType } from 'graphql';
import type { Table } from '../../model/model.ts';
import { filterTypeName } from '../../model/naming/graphql-names.ts';
import { bindInput } from '../bindings.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { columnFilters, combinators } from './filter-types.ts';
import { columnOrders, hasOrder } from './order-types.ts';
import { elementTests, filterIs } from './value-filters.ts';

/** Defines the filters and orders of those that columns have. */
export function* defineCompositeFilters(registry: TypeRegistry, composites: readonly Table[]): Generator<void, void> {
  for (const table of composites) {
    yield;
    const { filterName = null, listFilterName = null, orderName = null } = table.composite ?? {};
    if (filterName === null) continue;
    registry.define(filterName, () => filterOf(registry, table, filterName));
    if (orderName !== null && hasOrder(table, registry)) registry.define(orderName, () => orderOf(registry, table, orderName));
    if (listFilterName !== null) registry.define(listFilterName, () => listFilterOf(registry, table.typeName, filterName, listFilterName));
  }
}

/** An attribute with the name of a combinator, or called `is`, replaces that. */
function filterOf(registry: TypeRegistry, table: Table, name: string): GraphQLInputObjectType {
  const is = { type: filterIs, description: 'Whether the value is null as a whole', ...bindInput('filter', { kind: 'is' }) };
  return new GraphQLInputObjectType({
    name,
    description: `Boolean expression comparing the fields of type "${table.typeName}"`,
    fields: () => ({ ...combinators(registry.input(name)), is, ...columnFilters(registry, table) }),
  });
}

function orderOf(registry: TypeRegistry, table: Table, name: string): GraphQLInputObjectType {
  const description = `Orders records by the fields of type "${table.typeName}"`;
  return new GraphQLInputObjectType({ name, description, fields: () => columnOrders(registry, table) });
}

function listFilterOf(registry: TypeRegistry, typeName: string, filterName: string, name: string): GraphQLInputObjectType {
  const length = registry.input(filterTypeName('Int'));
  return new GraphQLInputObjectType({
    name,
    description: `Boolean expression comparing arrays of type "${typeName}"`,
    fields: () => ({
      ...elementTests(registry.input(filterName), length),
      is: { type: filterIs, ...bindInput('operators', { kind: 'is' }) },
    }),
  });
}
