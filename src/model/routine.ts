/** Functions, as fields of Query or Mutation, or of the rows of a table. */
import type { SessionEffects } from '../catalog/catalog.ts';
import type { Table } from './model.ts';
import type { EnumValueType, ListType, RowListType, RowType, ScalarType } from './value-type.ts';

export interface Routine {
  /** `pg_proc.oid`. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly fieldName: string;
  readonly description: string | null;
  readonly volatile: boolean;
  /** Whether it is written in PL/pgSQL, in which case the context of every error inside it names it. */
  readonly plpgsql: boolean;
  readonly effects: SessionEffects;
  /** See `CatalogFunction`. */
  readonly missesShards: boolean;
  /** Input arguments with legal names, without the row of a computed field. */
  readonly arguments: readonly RoutineArgument[];
  /** A required argument that no call can give, because its name is illegal in GraphQL. */
  readonly unreachableArgument: string | null;
  readonly result: RoutineResult;
  readonly introspection: boolean;
  /** As of a table. */
  readonly liveRefresh: number | null;
  /** Whether its ranges are objects, too. */
  readonly hasBounds: boolean;
  /** Whether it is a field of Subscription, too, if it is one of Query. */
  readonly subscribable: boolean;
}

export interface RoutineArgument {
  /** The name in PostgreSQL, for named notation. */
  readonly name: string;
  readonly argumentName: string;
  readonly type: ScalarType | EnumValueType | ListType | RowType | RowListType;
  /** Whether it is variadic: takes all remaining arguments, as a list. Only the last argument can be. */
  readonly variadic: boolean;
  /** Whether it has no default, so it must be given and not null. */
  readonly required: boolean;
  /** The default as introspection shows it, as a JavaScript value; undefined if there is none or it is an expression. */
  readonly defaultValue: unknown;
}

export type RoutineResult =
  | { readonly kind: 'value'; readonly type: ScalarType | EnumValueType | ListType }
  | { readonly kind: 'void' }
  /** `returns t[]`: a list. Of tables only in computed fields, as in pg_graphql. */
  | { readonly kind: 'row list'; readonly table: Table }
  /** `returns setof` a scalar: a list with pages of at most `maxRows`. */
  | { readonly kind: 'value set'; readonly type: ScalarType | EnumValueType | ListType; readonly maxRows: number }
  /** `returns setof` a composite type, or `returns table`: a list with such pages. */
  | { readonly kind: 'row set'; readonly table: Table; readonly maxRows: number }
  /** One row or null: `returns t`, or `returns setof t rows 1`. */
  | { readonly kind: 'row'; readonly table: Table; readonly setOf: boolean }
  /** `returns setof t`: a connection. */
  | { readonly kind: 'rows'; readonly table: Table };
