/** The result of `viewQuery` as JSON: lists of rows, each a tuple whose members are named here. A list is null if it has no rows. */
import type { RawForeignKey } from '../raw-catalog.ts';

type RawRows<Row> = readonly Row[] | null;

export interface RawViews {
  readonly relations: RawRows<readonly [id: number, kind: string, hasChildren: boolean, schemaId: number]>;
  /** The views' queries as PostgreSQL stores them. */
  readonly definitions: RawRows<readonly [viewId: number, tree: string]>;
  readonly indexes: RawRows<RawViewIndex>;
  readonly foreignKeys: RawRows<RawForeignKey>;
  /** Columns of tables in which no row has null. */
  readonly notNull: RawRows<readonly [tableId: number, column: number]>;
  readonly families: RawRows<readonly [operatorClass: number, family: number]>;
  readonly equalities: RawRows<readonly [operator: number, family: number]>;
  readonly exactFamilies: RawRows<number>;
  /** Nondeterministic collations. */
  readonly looseCollations: RawRows<number>;
}

export type RawViewIndex = readonly [
  tableId: number,
  primary: boolean,
  keyCount: number,
  columns: readonly number[],
  operatorClasses: readonly number[],
  collations: readonly number[],
];
