/**
 * The names of GraphQL types: those that every schema has, and those that belong to each table. `taken-names.ts` keeps them apart and
 * `schema/` defines the types under them, so this table has to hold all of them.
 */
import type { Table } from './model.ts';

const filteredScalars = ['Int', 'Float', 'String', 'Boolean', 'BigInt', 'BigFloat', 'UUID', 'Date', 'Time', 'Datetime'];

/** The types that every schema has, and `Mutation`, which most have. */
export const commonTypeNames: readonly string[] = [
  ...filteredScalars.flatMap((scalar) => [scalar, `${scalar}Filter`, `${scalar}ListFilter`]),
  ...['Opaque', 'OpaqueFilter', 'ID', 'IDFilter', 'JSON'],
  ...['Cursor', 'FilterIs', 'OrderByDirection', 'PageInfo', 'Node', 'Query', 'Mutation'],
];

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

export type TypeSuffix = keyof typeof typeSuffixes;

/** The name of a type that belongs to a table: `AccountConnection`. */
export function tableTypeName({ stem, renamedTypes }: Pick<Table, 'stem' | 'renamedTypes'>, suffix: TypeSuffix): string {
  return renamedTypes.get(suffix) ?? `${stem}${suffix}`;
}
