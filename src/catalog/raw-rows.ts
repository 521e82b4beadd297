/** The rows that the catalog query returns, with the names of their members, and the parser of their text. */
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
  /** Those of columns. */
  readonly collations: readonly RawCollation[];
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
  readonly arrayOperators: readonly RawArrayOperator[];
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
  /** Whether other tables inherit from it, or once did; partitions do not count. */
  hasChildren: boolean,
  /** Whether NOT NULL holds for all of its rows. */
  keepsNotNull: boolean,
  writable: number,
  fillsColumns: boolean,
  /** Whether a statement-level trigger runs before an insert. */
  runsBeforeInsert: boolean,
];

export type RawColumn = readonly [
  tableId: number,
  number: number,
  name: string,
  typeId: number,
  maxLength: number | null,
  /** The type with its modifier, qualified if the connection's search path requires it. */
  shownType: string | null,
  notNull: boolean,
  automatic: boolean,
  generatedAlways: boolean,
  hasDefault: boolean,
  /** Whether its domain, or a base domain of that, rejects null. */
  fullDomain: boolean,
  /** 0 if its type has none. */
  collationId: number,
];

/** A collation as SQL. */
export type RawCollation = readonly [id: number, name: string];

export type RawColumnNumber = readonly [tableId: number, number: number];

export type CommentedKind = 'schema' | 'relation' | 'constraint' | 'type' | 'function';

/** `number` is that of a column, or 0 for other objects. */
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
  /** Whether it belongs to a constraint. */
  constraint: boolean,
  immediate: boolean,
  keyCount: number,
  columns: readonly number[],
];

export type RawUniqueIndexKinds = readonly [id: number, collations: readonly number[], operatorClasses: readonly number[]];

/** The definition of an index that belongs to no constraint. */
export type RawUniqueIndexDefinition = readonly [
  id: number,
  elements: readonly RawIndexElement[],
  condition: string | null,
  /** PostgreSQL's serialized expression trees (`pg_node_tree`) of its expressions and condition. */
  nodes: string,
  nullsNotDistinct: boolean | null,
];

/** A column or expression as SQL, and the name of its collation, or a hyphen if it has none. */
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
  /** The foreign key of a partitioned table that this one was copied from, or 0. */
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
  /** The type without its modifier, qualified like `shownType` of columns. */
  shown: string,
  /** The type that a domain is based on in the end, quoted and qualified, and its schema. */
  base: readonly [sql: string, schemaId: number] | null,
  oddlyOrdered: boolean,
  unordered: boolean,
  delimiter: string,
];

/** A type whose operators are in a schema other than pg_catalog, with the function of its "=". */
export type RawOwnOperator = readonly [typeId: number, schemaId: number, functionId: number];

/** The function of an operator of an array type. */
export type RawArrayOperator = readonly [typeId: number, functionId: number];

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
  ambiguous: boolean,
];

/** `position` counts all arguments, from 1. */
export type RawDefault = readonly [functionId: number, position: number, sql: string | null];

/** A control character that never occurs in JSON text. */
export const rowSeparator = '\x1e';

/** Parses the columns of a row, which are lists of rows with these names in this order. */
export function* parseLists<Lists>(names: readonly (keyof Lists)[], columns: readonly (string | null)[]): Generator<void, Lists> {
  const lists: Partial<Record<keyof Lists, readonly unknown[]>> = {};
  for (const [position, name] of names.entries()) lists[name] = yield* parseRows(columns[position] ?? null);
  return lists as Lists;
}

/** Characters to parse before yielding: less than a millisecond of work. */
const pieceLength = 64 * 1024;

/** Parses the rows, yielding in between, because thousands of tables have megabytes of columns. Null is an empty list. */
export function* parseRows<Row>(text: string | null): Generator<void, readonly Row[]> {
  const rows: Row[] = [];
  if (text === null) return rows;
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf(rowSeparator, start + pieceLength);
    const end = next < 0 ? text.length : next;
    const piece = text.slice(start, end).replaceAll(rowSeparator, ',');
    for (const row of JSON.parse(`[${piece}]`) as Row[]) rows.push(row);
    start = end + 1;
    yield;
  }
  return rows;
}
