/**
 * All names of GraphQL types and root fields: those of every schema, and those derived from a table or enum. `claimed-names.ts` keeps them
 * unique and `schema/` defines them; neither spells out a name of its own.
 */

import type { AdditionName } from '../../settings/additions.ts';
import type { Table } from '../model.ts';
import { filteredScalars, listedScalars, scalarNames } from '../types/scalars.ts';
import { lowerFirst, upperFirst } from './names.ts';

const sharedTypes = ['ID', 'IDFilter', 'Cursor', 'FilterIs', 'OrderByDirection', 'PageInfo', 'Node'] as const;

export const rootTypeNames = { query: 'Query', mutation: 'Mutation' } as const;

/** The root type of subscriptions, unless a table or an enum has the name. */
export const subscriptionTypeName = 'Subscription';

/** The types of searches, unless a table or an enum has the name. */
export const searchTypeNames = { input: 'SearchInput', mode: 'SearchMode', config: 'SearchConfig' } as const;

/** Types of every schema, besides column scalars, their filters and the root types. */
export type SharedTypeName = (typeof sharedTypes)[number];

/** Type names that no table or enum can have. */
export const commonTypeNames: readonly string[] = [
  ...scalarNames,
  ...filteredScalars.map(filterTypeName),
  ...listedScalars.map(listFilterTypeName),
  ...sharedTypes,
  ...Object.values(rootTypeNames),
];

export function filterTypeName<Name extends string>(typeName: Name): `${Name}Filter` {
  return `${typeName}Filter`;
}

export function listFilterTypeName<Name extends string>(typeName: Name): `${Name}ListFilter` {
  return `${typeName}ListFilter`;
}

/** The properties of a table that determine its types and root fields. */
export interface TableAbilities {
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  readonly aggregate: boolean;
}

const always = () => true;
const inserts = ({ insertable }: TableAbilities) => insertable;
const updates = ({ updatable }: TableAbilities) => updatable;
const deletes = ({ deletable }: TableAbilities) => deletable;
const aggregates = ({ aggregate }: TableAbilities) => aggregate;

/** Suffixes of a table's type names, and which tables have each. None ends with another. */
export const typeSuffixes = {
  Connection: always,
  Edge: always,
  Filter: always,
  OrderBy: always,
  InsertInput: inserts,
  InsertResponse: inserts,
  UpdateInput: updates,
  UpdateResponse: updates,
  DeleteResponse: deletes,
  Aggregate: aggregates,
  SumAggregateResult: aggregates,
  AvgAggregateResult: aggregates,
  MinAggregateResult: aggregates,
  MaxAggregateResult: aggregates,
} as const satisfies Record<string, (able: TableAbilities) => boolean>;

/** Suffixes of type names of additions, which are claimed after all others. */
export const additionSuffixes = {
  FilterToOne: 'relationFilters',
  FilterToMany: 'relationFilters',
  OrderByToMany: 'relationOrder',
  OrderBySum: 'relationOrder',
  OrderByAvg: 'relationOrder',
  OrderByMin: 'relationOrder',
  OrderByMax: 'relationOrder',
  IncrementInput: 'increment',
  JSONInput: 'json',
  CountDistinctAggregateResult: 'moreAggregates',
  StddevAggregateResult: 'moreAggregates',
  VarianceAggregateResult: 'moreAggregates',
  BoolAndAggregateResult: 'moreAggregates',
  BoolOrAggregateResult: 'moreAggregates',
  PercentileAggregateResult: 'moreAggregates',
  AggregateGroup: 'groups',
  GroupKey: 'groups',
  GroupBy: 'groups',
  GroupByBucket: 'groups',
  GroupKeyOrder: 'groups',
  GroupHaving: 'groups',
  GroupHavingSum: 'groups',
  GroupHavingNumbers: 'groups',
  GroupHavingExtremes: 'groups',
  GroupHavingDistinct: 'groups',
  GroupHavingBooleans: 'groups',
  GroupHavingPercentile: 'groups',
  GroupOrder: 'groups',
  GroupOrderNumbers: 'groups',
  GroupOrderExtremes: 'groups',
  GroupOrderDistinct: 'groups',
  GroupOrderBooleans: 'groups',
  GroupOrderPercentile: 'groups',
  SearchColumn: 'search',
  OnConflictInput: 'onConflict',
  Constraint: 'onConflict',
  UpdateColumn: 'onConflict',
  Nearest: 'vectors',
  DistinctColumn: 'distinctOn',
  InsertToOne: 'nestedWrites',
  InsertToMany: 'nestedWrites',
  UpdateToOne: 'nestedWrites',
  UpdateToMany: 'nestedWrites',
  Key: 'nestedWrites',
  ConnectOrCreate: 'nestedWrites',
  NestedUpdate: 'nestedWrites',
  NestedUpdateMany: 'nestedWrites',
  NestedDelete: 'nestedWrites',
} as const satisfies Record<string, AdditionName>;

/** The enums that all tables' groups share, by the kind of column they apply to. If a name is taken, the schema uses another. */
export const groupUnitNames = { value: 'GroupByValue', date: 'GroupByDate', time: 'GroupByTime' } as const;

/** The types that all vectors share, and those of bits. If a name is taken, the schema uses another. */
export const fusionTypeName = 'Fusion';

export const nearestTypeNames = {
  numbers: { nearest: 'VectorNearest', metric: 'VectorMetric' },
  bits: { nearest: 'BitNearest', metric: 'BitMetric' },
  texts: { nearest: 'TextNearest', metric: 'TextMetric' },
  points: { nearest: 'PointNearest', metric: 'PointMetric' },
  places: { nearest: 'PlaceNearest', metric: 'PlaceMetric' },
} as const;

export type AdditionSuffix = keyof typeof additionSuffixes;
export type TypeSuffix = keyof typeof typeSuffixes | AdditionSuffix;

/** All suffixes of a table's type names (its row type has none). */
export const tableTypeSuffixes = [...Object.keys(typeSuffixes), ...Object.keys(additionSuffixes)] as readonly TypeSuffix[];
const shortestEnd = 3;
const suffixesByEnd = Map.groupBy(tableTypeSuffixes, (suffix) => suffix.slice(-shortestEnd));

export function suffixesOf(name: string): readonly TypeSuffix[] {
  return (suffixesByEnd.get(name.slice(-shortestEnd)) ?? []).filter((suffix) => name.endsWith(suffix));
}

/** The name of a table's type: `AccountConnection`. */
export function tableTypeName({ stem, renamedTypes }: Pick<Table, 'stem' | 'renamedTypes'>, suffix: TypeSuffix): string {
  return renamedTypes.get(suffix) ?? `${stem}${suffix}`;
}

/** The only built-in root field that belongs to no table. */
export const nodeFieldName = 'node';

/** Prefixes and suffixes of a table's root fields. In those that only read, the stem starts in lower case. */
const tableFields = {
  byPk: { root: 'query', before: '', after: 'ByPk' },
  collection: { root: 'query', before: '', after: 'Collection' },
  insert: { root: 'mutation', before: 'insertInto', after: 'Collection' },
  update: { root: 'mutation', before: 'update', after: 'Collection' },
  delete: { root: 'mutation', before: 'deleteFrom', after: 'Collection' },
  stream: { root: 'subscription', before: '', after: 'Stream' },
} as const;

/** The name of a table's root field: `accountCollection`, `insertIntoAccountCollection`. */
export function tableFieldName({ stem }: Pick<Table, 'stem'>, field: TableField): string {
  const { root, before, after } = tableFields[field];
  return `${before}${root === 'mutation' ? stem : lowerFirst(stem)}${after}`;
}

/** The name of a field of Query that looks up a table's rows by a unique key: `accountByOwnerIdAndName`. */
export function lookupFieldName({ stem }: Pick<Table, 'stem'>, columns: readonly string[]): string {
  return `${lowerFirst(stem)}By${columns.map(upperFirst).join('And')}`;
}

export type TableField = keyof typeof tableFields;
const fieldNames = Object.keys(tableFields) as readonly TableField[];

/** The root fields that a name could be, each with the stem of its table, cased as `tableFieldName` writes it. */
export function fieldsNamed(
  name: string,
  root: 'query' | 'mutation' | 'subscription',
): { readonly field: TableField; readonly stem: string }[] {
  return fieldNames.flatMap((field) => {
    const { root: owner, before, after } = tableFields[field];
    if (owner !== root || !name.startsWith(before) || !name.endsWith(after)) return [];
    return [{ field, stem: name.slice(before.length, -after.length) }];
  });
}
