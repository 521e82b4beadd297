/** The result of `catalogQuery` as JSON: lists of rows, each an array whose members are named here. A list is null if there is nothing. */
import type { CatalogFunction, CatalogType, RelationKind } from './catalog.ts';

type RawRows<Row> = readonly Row[] | null;

export interface RawCatalog {
  /** Ids of the exposed schemas that exist. */
  readonly setting: RawRows<number>;
  /** All schemas of the database. */
  readonly schemas: RawRows<RawSchema>;
  readonly tables: RawRows<RawTable>;
  readonly columns: RawRows<RawColumn>;
  readonly sequences: RawRows<RawColumnNumber>;
  readonly unproven: RawRows<RawColumnNumber>;
  readonly comments: RawRows<RawComment>;
  readonly indexes: RawRows<RawIndex>;
  readonly foreignKeys: RawRows<RawForeignKey>;
  readonly targets: RawRows<RawTarget>;
  readonly types: RawRows<RawType>;
  readonly labels: RawRows<RawLabel>;
  readonly functions: RawRows<RawFunction>;
  readonly defaults: RawRows<RawDefault>;
}

export type RawSchema = readonly [id: number, name: string, quotedName: string];

export type RawTable = readonly [
  id: number,
  schemaId: number,
  name: string,
  kind: RelationKind,
  rowSecurity: boolean,
  options: readonly string[] | null,
  /** Whether a table has, or had, others that inherit from it; partitions do not count. */
  hasChildren: boolean,
  /** Whether NOT NULL holds for all of its rows. */
  keepsNotNull: boolean,
  writable: number,
];

export type RawColumn = readonly [
  tableId: number,
  number: number,
  name: string,
  typeId: number,
  maxLength: number | null,
  /** The type with its modifier, qualified where the search path of the connection asks for it. */
  shownType: string | null,
  notNull: boolean,
  automatic: boolean,
];

export type RawColumnNumber = readonly [tableId: number, number: number];

export type CommentedKind = 'schema' | 'relation' | 'constraint' | 'type' | 'function';

/** The number is that of a column, and otherwise 0. */
export type RawComment = readonly [kind: CommentedKind | null, id: number, number: number, text: string];

export type RawIndex = readonly [
  tableId: number,
  primary: boolean,
  unique: boolean,
  immediate: boolean,
  keyCount: number,
  columns: readonly number[],
];

export type RawForeignKey = readonly [
  id: number,
  name: string,
  tableId: number,
  columns: readonly number[],
  targetId: number,
  targetColumns: readonly number[],
  validated: boolean,
  /** The key of the partitioned table that this one was made for, or 0. */
  parentId: number,
];

export type RawTarget = readonly [id: number, schemaId: number, name: string];

export type RawType = readonly [
  id: number,
  schemaId: number,
  name: string,
  quotedName: string,
  kind: CatalogType['kind'],
  category: string,
  elementId: number,
  relationId: number,
  /** The type without modifier, as `shownType` of columns. */
  shown: string,
];

export type RawLabel = readonly [typeId: number, label: string];

export type RawFunction = readonly [
  id: number,
  schemaId: number,
  name: string,
  kind: CatalogFunction['kind'],
  extension: boolean,
  volatile: boolean,
  securityDefiner: boolean,
  variadic: boolean,
  returnsSet: boolean,
  rows: number,
  resultTypeId: number,
  argumentTypes: readonly number[],
  argumentNames: readonly string[] | null,
  argumentModes: readonly string[] | null,
  defaultCount: number,
];

/** The position counts all arguments, from 1. */
export type RawDefault = readonly [functionId: number, position: number, sql: string | null];
