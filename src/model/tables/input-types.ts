/**
 * The names of the input types that the columns of all tables share: those of JSON, of ranges, and the filters of types that are Opaque. Only those that
 * a table with the addition uses, so that others keep the names.
 */
import type { AdditionName } from '../../settings/additions.ts';
import type { BuildContext } from '../build-context.ts';
import type { JsonTypeNames, Model } from '../model.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import { elementFilterNamesOf, listFilterNameOf } from '../naming/filter-names.ts';
import { filterTypeName } from '../naming/graphql-names.ts';
import { additionsOf } from '../routines/routine-types.ts';
import { isJson, rangesOf } from '../types/named-types.ts';
import { postgresType } from '../types/postgres-types.ts';
import { type FilteredScalar, scalars } from '../types/scalars.ts';
import { type TypeFilterName, typeFilters } from '../types/type-filters.ts';
import type { LazyTable } from './lazy-table.ts';
import { typeWith, valueTypeOf } from './value-types.ts';

/** Claims them after all other types. */
export function claimInputTypes(
  context: BuildContext,
  names: ClaimedNames,
): Pick<Model, 'jsonTypes' | 'typeFilters' | 'rangeTypes' | 'listFilters' | 'geoTypes'> {
  const filters = claimTypeFilters(context, names);
  const hasShapes = filters.has('Geometry') || filters.has('Geography');
  const ofValues = {
    jsonTypes: hasJson(context) ? claimJsonTypes(names) : null,
    typeFilters: filters,
    geoTypes: hasShapes ? { scalar: names.claimShared('GeoJSON'), near: names.claimShared('GeoJSONDistance') } : null,
    rangeTypes: claimRangeTypes(context, names),
  };
  return { ...ofValues, listFilters: claimListFilters(context, names, ofValues) };
}

/** The filters of arrays in tables with the addition of their elements, but for those that pg_graphql has. */
function claimListFilters(
  context: BuildContext,
  names: ClaimedNames,
  ofValues: Parameters<typeof elementFilterNamesOf>[2],
): Model['listFilters'] {
  const { catalog } = context;
  const arrays = new Set([...catalog.types.values()].filter(({ category }) => category === 'A').map(({ id }) => id));
  const used = new Set<string>();
  for (const { additions, traits } of filtered(context)) {
    for (const { typeId } of traits.catalogTable.columns) {
      if (!arrays.has(typeId)) continue;
      const type = typeWith(context, additions, typeId, valueTypeOf(context, typeId));
      const of = type.kind === 'list' ? type.element : type;
      if (of.kind !== 'scalar' || scalars[of.scalar].filtersLists) continue;
      const [name] = elementFilterNamesOf(of, additions, ofValues);
      if (name !== undefined && name !== filterTypeName(of.domain?.typeName ?? '')) used.add(name);
    }
  }
  return new Map([...used].map((name) => [name, names.claimShared(listFilterNameOf(name))]));
}

/** The scalars of bounds of the ranges in columns and attributes that have the addition. */
function claimRangeTypes(context: BuildContext, names: ClaimedNames): Model['rangeTypes'] {
  const { catalog, composites, settings, tables } = context;
  const ofRanges = new Map<number, FilteredScalar>();
  for (const { id, boundId, baseId, elementId } of catalog.types.values()) {
    const inner = catalog.types.get(elementId || baseId);
    if (boundId === 0 && (inner?.boundId ?? 0) === 0 && inner?.kind !== 'd') continue;
    const ranges = rangesOf(valueTypeOf(context, id));
    if (ranges) ofRanges.set(id, ranges.range.scalar);
  }
  const used = new Set<FilteredScalar>();
  if (ofRanges.size === 0 || !settings.additions.has('ranges')) return new Map();
  const ofColumns = typesOfColumns([...tables.values(), ...composites.values()], 'ranges');
  for (const typeId of [...ofColumns, ...typesOfCalls(context)]) {
    const scalar = ofRanges.get(typeId);
    if (scalar !== undefined) used.add(scalar);
  }
  return new Map(
    [...used].map((scalar) => [
      scalar,
      {
        object: names.claimShared(`${scalar}Range`),
        input: names.claimShared(`${scalar}RangeInput`),
        filter: names.claimShared(`${scalar}RangeFilter`),
        multirangeFilter: names.claimShared(`${scalar}MultirangeFilter`),
      },
    ]),
  );
}

/** The types of the columns of tables with an addition. */
function typesOfColumns(tables: readonly LazyTable[], addition: AdditionName): readonly number[] {
  const having = tables.filter(({ additions }) => additions.has(addition));
  return having.flatMap(({ traits }) => traits.catalogTable.columns.map(({ typeId }) => typeId));
}

/** The types of arguments and results of the functions that may be fields, with the addition of ranges. */
function* typesOfCalls(context: BuildContext): Generator<number, void> {
  const { catalog, privileges } = context;
  for (const catalogFunction of catalog.functions) {
    if (!privileges.functions.has(catalogFunction.id) || !additionsOf(context, catalogFunction).has('ranges')) continue;
    yield catalogFunction.resultTypeId;
    for (const { typeId } of catalogFunction.arguments) yield typeId;
  }
}

/** The tables, and the composite types that are filtered. */
function filtered({ tables, composites }: BuildContext): readonly LazyTable[] {
  return [...tables.values(), ...[...composites.values()].filter(({ composite }) => composite?.filterName !== null)];
}

/** Whether any with the addition has a column of JSON, or of a domain over JSON. */
function hasJson(context: BuildContext): boolean {
  const { catalog, domains } = context;
  const ofJson = new Set([...catalog.types.values()].filter((type) => postgresType(type).scalar === 'JSON').map(({ id }) => id));
  for (const { id, base } of domains.values()) if (isJson(base)) ofJson.add(id);
  for (const { id, elementId } of catalog.types.values()) if (ofJson.has(elementId)) ofJson.add(id);
  return typesOfColumns(filtered(context), 'json').some((typeId) => ofJson.has(typeId));
}

/** The filters of the types of columns, and of the domains over such a type, in tables with the addition. */
function claimTypeFilters(context: BuildContext, names: ClaimedNames): Model['typeFilters'] {
  const { catalog, settings } = context;
  const filters = new Map<number, TypeFilterName>();
  for (const type of catalog.types.values()) {
    const element = catalog.types.get(type.elementId) ?? type;
    const base = (element.kind === 'd' ? catalog.types.get(element.baseId) : undefined) ?? element;
    const { filter, geometry } = postgresType(base);
    if (geometry !== null && base.schemaId !== catalog.postgisSchemaId) continue;
    if (filter !== null && settings.additions.has(typeFilters[filter].addition)) filters.set(type.id, filter);
  }
  if (filters.size === 0) return new Map();
  const used = new Set<TypeFilterName>();
  for (const { additions, traits } of filtered(context)) {
    for (const { typeId } of traits.catalogTable.columns) {
      const filter = filters.get(typeId);
      if (filter !== undefined && additions.has(typeFilters[filter].addition)) used.add(filter);
    }
  }
  return new Map([...used].map((filter) => [filter, names.claimShared(`${filter}Filter`)]));
}

function claimJsonTypes(names: ClaimedNames): JsonTypeNames {
  return {
    filter: names.claimShared('JSONFilter'),
    path: names.claimShared('JSONPath'),
    change: names.claimShared('JSONChange'),
    pathValue: names.claimShared('JSONPathValue'),
    order: names.claimShared('JSONPathOrder'),
    group: names.claimShared('JSONPathGroup'),
    groupOrder: names.claimShared('JSONPathGroupOrder'),
    valueType: names.claimShared('JSONValueType'),
  };
}
