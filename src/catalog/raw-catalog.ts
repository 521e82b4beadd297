/** What the query for the catalog returns, before it is put together. */
import type {
  CatalogColumn,
  CatalogForeignKey,
  CatalogFunction,
  CatalogIndex,
  CatalogSearchConfig,
  CatalogTable,
  CatalogType,
  DistanceIndex,
} from './catalog.ts';

/** The rows that the query returns. Ids are oids. */
export interface RawCatalog {
  /** A single row. */
  readonly encoding: readonly { readonly name: string }[];
  /** The exposed schemas that exist. */
  readonly exposed: readonly { readonly id: number }[];
  /** All schemas of the database. */
  readonly schemas: readonly { readonly id: number; readonly name: string; readonly quotedName: string }[];
  readonly tables: readonly RawTable[];
  readonly roleIndependent: readonly { readonly id: number }[];
  readonly columns: readonly RawColumn[];
  /** The composite types in use that are not the row types of relations. */
  readonly composites: readonly { readonly id: number; readonly schemaId: number; readonly name: string; readonly typeId: number }[];
  readonly attributes: readonly RawAttribute[];
  /** Collations of columns, as SQL. */
  readonly collations: readonly { readonly id: number; readonly sql: string }[];
  /** Columns that own a sequence: serial and identity. */
  readonly sequences: readonly RawColumnNumber[];
  /** Columns whose NOT NULL constraint is not validated, or that a child table has without the constraint. (Partitions cannot lack it.) */
  readonly unproven: readonly RawColumnNumber[];
  readonly comments: readonly RawComment[];
  readonly indexes: readonly (CatalogIndex & { readonly tableId: number; readonly keyCount: number })[];
  /** HNSW and IVFFlat indexes on columns. */
  readonly distanceIndexes: readonly (RawColumnNumber & DistanceIndex)[];
  /** The extension pgvector, if it is installed. */
  readonly vectorExtension: readonly { readonly schemaId: number; readonly version: string }[];
  /** Of the catalogs of Citus and TimescaleDB, those that there are. */
  readonly placementCatalogs: readonly { readonly name: string }[];
  readonly uniqueIndexes: readonly RawUniqueIndex[];
  /** Only for tables that have unique indexes without a constraint, which must be told apart. */
  readonly uniqueIndexKinds: readonly {
    readonly id: number;
    readonly collations: readonly number[];
    readonly classes: readonly number[];
  }[];
  readonly uniqueIndexDefinitions: readonly RawIndexDefinition[];
  readonly uniqueIndexNames: readonly { readonly id: number; readonly name: string }[];
  readonly foreignKeys: readonly RawForeignKey[];
  /** Unexposed tables that foreign keys refer to. */
  readonly targets: readonly { readonly id: number; readonly schemaId: number; readonly name: string }[];
  readonly types: readonly RawType[];
  /** All text search configurations, and those that PostgreSQL fills in columns with, as SQL. */
  readonly searchConfigs: readonly Omit<CatalogSearchConfig, 'schema'>[];
  /** The extension PostGIS, if it is installed. */
  readonly postgis: readonly { readonly schemaId: number }[];
  /** The extension pg_trgm, if it is installed. */
  readonly trigrams: readonly { readonly schemaId: number; readonly schema: string }[];
  readonly searchVectors: readonly (RawColumnNumber & { readonly config: string })[];
  /** Types of columns whose operators are in a schema other than pg_catalog, with the function of their "=". */
  /** The checks of domains as PostgreSQL writes them: `CHECK ((VALUE > 0))`. */
  readonly domainChecks: readonly { readonly typeId: number; readonly sql: string }[];
  readonly ownOperators: readonly { readonly typeId: number; readonly schemaId: number; readonly functionId: number }[];
  /** Operators of array types of columns that PostgreSQL prefers to those of all arrays, such as those of intarray. */
  readonly arrayOperators: readonly { readonly typeId: number; readonly functionId: number }[];
  readonly labels: readonly { readonly typeId: number; readonly label: string }[];
  readonly functions: readonly RawFunction[];
  /** `position` counts all arguments, from 1. */
  readonly defaults: readonly { readonly functionId: number; readonly position: number; readonly sql: string | null }[];
}

export interface RawTable
  extends Pick<
    CatalogTable,
    'id' | 'schemaId' | 'name' | 'kind' | 'rowSecurity' | 'hasChildren' | 'keepsNotNull' | 'fillsColumns' | 'runsBeforeInsert'
  > {
  /** The bits of `pg_relation_is_updatable`: 2 for update, 3 for insert and 4 for delete, PostgreSQL's numbers for these commands. */
  readonly writable: number;
}

/** An attribute of a composite type. */
export interface RawAttribute extends Pick<CatalogColumn, 'number' | 'name' | 'typeId' | 'maxLength'> {
  readonly tableId: number;
  /** The type with its modifier, qualified if the connection's search path requires it. */
  readonly shownType: string | null;
}

export interface RawColumn extends RawAttribute, Pick<CatalogColumn, 'notNull' | 'automatic' | 'generatedAlways' | 'hasDefault'> {
  /** Whether its domain, or a base domain of that, rejects null. */
  readonly fullDomain: boolean;
  /** 0 if its type has none. */
  readonly collationId: number;
}

export interface RawColumnNumber {
  readonly tableId: number;
  readonly number: number;
}

interface RawComment {
  readonly kind: 'schema' | 'relation' | 'constraint' | 'type' | 'function' | null;
  readonly id: number;
  /** That of a column, or 0 for other objects. */
  readonly number: number;
  readonly text: string;
}

export interface RawUniqueIndex extends Pick<CatalogIndex, 'immediate' | 'columns'> {
  readonly tableId: number;
  readonly id: number;
  readonly keyCount: number;
}

export interface RawIndexDefinition {
  readonly id: number;
  /** Columns and expressions as SQL, each with the name of its collation, or a hyphen if it has none. */
  readonly elements: readonly (readonly [sql: string, collation: string])[];
  readonly condition: string | null;
  /** PostgreSQL's serialized expression trees (`pg_node_tree`) of its expressions and condition. */
  readonly nodes: string;
  readonly nullsNotDistinct: boolean | null;
}

interface RawForeignKey
  extends Pick<CatalogForeignKey, 'id' | 'name' | 'tableId' | 'columns' | 'targetId' | 'targetColumns' | 'validated'> {
  /** The foreign key of a partitioned table that this one was copied from, or 0. */
  readonly parentId: number;
}

interface RawType
  extends Pick<
    CatalogType,
    'id' | 'schemaId' | 'name' | 'kind' | 'category' | 'elementId' | 'relationId' | 'boundId' | 'oddlyOrdered' | 'unordered' | 'delimiter'
  > {
  readonly quotedName: string;
  /** The type without its modifier, qualified like `shownType` of columns. */
  readonly shown: string;
  /** The type that a domain is based on in the end, quoted and qualified, its schema, and its id. */
  readonly base: readonly [sql: string, schemaId: number, id: number] | null;
}

export interface RawFunction extends Omit<CatalogFunction, 'schema' | 'effects' | 'missesShards' | 'arguments' | 'comment'> {
  readonly argumentTypes: readonly number[];
  readonly argumentNames: readonly string[] | null;
  readonly argumentModes: readonly string[] | null;
  /** The types of all arguments, those that are only output included; null if there are none of these. */
  readonly allTypes: readonly number[] | null;
  readonly defaultCount: number;
}

export class CatalogComments {
  readonly #texts: ReadonlyMap<string, string>;

  constructor({ comments }: Pick<RawCatalog, 'comments'>) {
    this.#texts = new Map(comments.map(({ kind, id, number, text }) => [`${kind} ${id} ${number}`, text]));
  }

  /** The comment on an object, or on a column of a relation; null if there is none. */
  on(kind: NonNullable<RawComment['kind']>, id: number, number = 0): string | null {
    return this.#texts.get(`${kind} ${id} ${number}`) ?? null;
  }
}
