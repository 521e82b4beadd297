/**
 * The one table of names: of the types that every schema has, and of the types and root fields that belong to each table or enum. `taken-names.ts` keeps
 * them apart and `schema/` defines them; neither spells one that does not stand here.
 */

import type { AdditionName } from './additions.ts';
import type { Table } from './model.ts';
import { lowerFirst } from './names.ts';

/** Scalars that have a filter of their own, and one of lists of them. */
export const listedScalars = ['Int', 'Float', 'String', 'Boolean', 'BigInt', 'BigFloat', 'UUID', 'Date', 'Time', 'Datetime'] as const;
/** Scalars that have a filter of their own. */
export const filteredScalars = [...listedScalars, 'Opaque'] as const;
/** The scalars that a column can have. */
const columnScalars = [...filteredScalars, 'JSON'] as const;
const sharedTypes = ['ID', 'IDFilter', 'Cursor', 'FilterIs', 'OrderByDirection', 'PageInfo', 'Node'] as const;

/** The types of the operations; a schema in which nothing can be mutated has no second one. */
export const rootTypeNames = { query: 'Query', mutation: 'Mutation' } as const;

export type FilteredScalar = (typeof filteredScalars)[number];
export type ScalarName = (typeof columnScalars)[number];
/** The types that every schema has besides scalars of columns, their filters, and `Query`. */
export type SharedTypeName = (typeof sharedTypes)[number];

/** The names that no table, enum or function can have. */
export const commonTypeNames: readonly string[] = [
  ...columnScalars,
  ...filteredScalars.map(filterTypeName),
  ...listedScalars.map(listFilterTypeName),
  ...sharedTypes,
  ...Object.values(rootTypeNames),
];

/** The filter of a scalar or an enum. */
export function filterTypeName<Name extends string>(typeName: Name): `${Name}Filter` {
  return `${typeName}Filter`;
}

/** The filter of lists of a scalar. */
export function listFilterTypeName<Name extends string>(typeName: Name): `${Name}ListFilter` {
  return `${typeName}ListFilter`;
}

/** What adds to the types and root fields of a table. */
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

/** What follows the stem in the names of the types that belong to a table, and which tables have them. None ends with another. */
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

/** The same for the types of additions, which come after all others. */
export const additionSuffixes = {
  FilterToOne: 'relationFilters',
  FilterToMany: 'relationFilters',
  OrderByToMany: 'relationOrder',
  OrderBySum: 'relationOrder',
  OrderByAvg: 'relationOrder',
  OrderByMin: 'relationOrder',
  OrderByMax: 'relationOrder',
  IncrementInput: 'increment',
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
  OnConflictInput: 'onConflict',
  Constraint: 'onConflict',
  UpdateColumn: 'onConflict',
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

/** The enums that the groups of all tables share, by what they say of a column's values; another name is put in place of one that is taken. */
export const groupUnitNames = { value: 'GroupByValue', date: 'GroupByDate', time: 'GroupByTime' } as const;

export type AdditionSuffix = keyof typeof additionSuffixes;
export type TypeSuffix = keyof typeof typeSuffixes | AdditionSuffix;

/** What the names of a table's types end with, beside that of its rows. */
export const tableTypeSuffixes = [...Object.keys(typeSuffixes), ...Object.keys(additionSuffixes)] as readonly TypeSuffix[];
/** No suffix is shorter. */
const shortestEnd = 3;
const suffixesByEnd = Map.groupBy(tableTypeSuffixes, (suffix) => suffix.slice(-shortestEnd));

/** The suffixes that a name ends with. */
export function suffixesOf(name: string): readonly TypeSuffix[] {
  return (suffixesByEnd.get(name.slice(-shortestEnd)) ?? []).filter((suffix) => name.endsWith(suffix));
}

/** The name of a type that belongs to a table: `AccountConnection`. */
export function tableTypeName({ stem, renamedTypes }: Pick<Table, 'stem' | 'renamedTypes'>, suffix: TypeSuffix): string {
  return renamedTypes.get(suffix) ?? `${stem}${suffix}`;
}

/** The field of Query that belongs to no table. */
export const nodeFieldName = 'node';

/** What stands around the stem in the names of the root fields that belong to a table. In those of Query the stem begins in lower case. */
const tableFields = {
  byPk: { root: 'query', before: '', after: 'ByPk' },
  collection: { root: 'query', before: '', after: 'Collection' },
  insert: { root: 'mutation', before: 'insertInto', after: 'Collection' },
  update: { root: 'mutation', before: 'update', after: 'Collection' },
  delete: { root: 'mutation', before: 'deleteFrom', after: 'Collection' },
} as const;

/** The name of a root field that belongs to a table: `accountCollection`, `insertIntoAccountCollection`. */
export function tableFieldName({ stem }: Pick<Table, 'stem'>, field: TableField): string {
  const { root, before, after } = tableFields[field];
  return `${before}${root === 'query' ? lowerFirst(stem) : stem}${after}`;
}

export type TableField = keyof typeof tableFields;
const fieldNames = Object.keys(tableFields) as readonly TableField[];

/** The fields of tables that could have this name, each with the stem of the table, as `tableFieldName` writes it. */
export function fieldsNamed(name: string, root: 'query' | 'mutation'): { readonly field: TableField; readonly stem: string }[] {
  return fieldNames.flatMap((field) => {
    const { root: owner, before, after } = tableFields[field];
    if (owner !== root || !name.startsWith(before) || !name.endsWith(after)) return [];
    return [{ field, stem: name.slice(before.length, -after.length) }];
  });
}
