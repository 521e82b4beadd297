/** The result of `catalogQuery`: lists of rows, each an array whose members are named here. */
import type { CatalogFunction, CatalogType, RelationKind } from './catalog.ts';

export interface RawCatalog {
  /** A single row. */
  readonly encoding: readonly (readonly [name: string])[];
  /** Ids of the exposed schemas that exist. */
  readonly setting: readonly number[];
  /** All schemas of the database. */
  readonly schemas: readonly RawSchema[];
  readonly tables: readonly RawTable[];
  /** Ids of tables. */
  readonly roleIndependent: readonly number[];
  readonly columns: readonly RawColumn[];
  readonly sequences: readonly RawColumnNumber[];
  readonly unproven: readonly RawColumnNumber[];
  readonly comments: readonly RawComment[];
  readonly indexes: readonly RawIndex[];
  readonly uniqueIndexes: readonly RawUniqueIndex[];
  readonly uniqueIndexKinds: readonly RawUniqueIndexKinds[];
  readonly uniqueIndexDefinitions: readonly RawUniqueIndexDefinition[];
  readonly uniqueIndexNames: readonly RawUniqueIndexName[];
  readonly foreignKeys: readonly RawForeignKey[];
  readonly targets: readonly RawTarget[];
  readonly types: readonly RawType[];
  readonly ownOperators: readonly RawOwnOperator[];
  readonly labels: readonly RawLabel[];
  readonly functions: readonly RawFunction[];
  readonly defaults: readonly RawDefault[];
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
  fillsColumns: boolean,
];

export type RawColumn = readonly [
  tableId: number,
  number: number,
  name: string,
  typeId: number,
  maxLength: number | null,
  /** The type with its modifier, qualified if the search path of the connection requires it. */
  shownType: string | null,
  notNull: boolean,
  automatic: boolean,
  hasDefault: boolean,
  /** Whether its domain, or one below that, refuses null. */
  fullDomain: boolean,
];

export type RawColumnNumber = readonly [tableId: number, number: number];

export type CommentedKind = 'schema' | 'relation' | 'constraint' | 'type' | 'function';

/** The number of a column, otherwise 0. */
export type RawComment = readonly [kind: CommentedKind | null, id: number, number: number, text: string];

export type RawIndex = readonly [
  tableId: number,
  primary: boolean,
  unique: boolean,
  immediate: boolean,
  keyCount: number,
  columns: readonly number[],
  movesNulls: boolean | null,
];

export type RawUniqueIndex = readonly [
  tableId: number,
  id: number,
  /** Whether a constraint has made it. */
  constraint: boolean,
  immediate: boolean,
  keyCount: number,
  columns: readonly number[],
];

export type RawUniqueIndexKinds = readonly [id: number, collations: readonly number[], operatorClasses: readonly number[]];

/** Of an index that belongs to no constraint. */
export type RawUniqueIndexDefinition = readonly [
  id: number,
  elements: readonly RawIndexElement[],
  condition: string | null,
  /** PostgreSQL's own representation of its expressions and its condition. */
  nodes: string,
  nullsNotDistinct: boolean | null,
];

/** A column or an expression as SQL, and the name of its collation; a hyphen if it has none. */
export type RawIndexElement = readonly [sql: string, collation: string];

export type RawUniqueIndexName = readonly [id: number, name: string];

export type RawForeignKey = readonly [
  id: number,
  name: string,
  tableId: number,
  columns: readonly number[],
  targetId: number,
  targetColumns: readonly number[],
  validated: boolean,
  /** The foreign key of the partitioned table that this one was created for, or 0. */
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
  /** The enum that a domain is over, quoted and qualified. */
  enumSql: string | null,
  oddlyOrdered: boolean,
];

/** A type that is compared by operators of a schema other than pg_catalog. */
export type RawOwnOperator = readonly [typeId: number, schemaId: number];

export type RawLabel = readonly [typeId: number, label: string];

export type RawFunction = readonly [
  id: number,
  schemaId: number,
  name: string,
  kind: CatalogFunction['kind'],
  extension: boolean,
  volatile: boolean,
  securityDefiner: boolean,
  plpgsql: boolean,
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
