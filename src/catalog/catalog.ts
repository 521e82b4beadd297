/**
 * What PostgreSQL's catalogs say about the exposed schemas, as plain data: no roles, no GraphQL names, no rules. `load-catalog.ts` loads it
 * in one query for all roles; `model/` reads it. Ids are oids, and lists are in order of id. Only comments that contain a directive are
 * loaded.
 */

export interface Catalog {
  /** PostgreSQL's name for the database encoding, such as `UTF8`. */
  readonly encoding: string;
  /** The exposed schemas as configured, including those that do not exist. */
  readonly setting: readonly string[];
  /** The exposed schemas that exist, in the order of the setting. */
  readonly schemas: readonly CatalogSchema[];
  readonly tables: readonly CatalogTable[];
  /**
   * As tables without keys: the composite types of any schema that columns, arguments and results use, and what functions return that
   * have several columns (`returns table`, `out` and `inout` arguments). The id of the latter is that of the function, negative.
   */
  readonly composites: readonly CatalogTable[];
  /** Foreign keys of the exposed tables, including those to tables that are not exposed. */
  readonly foreignKeys: readonly CatalogForeignKey[];
  /** The copies of foreign keys to partitioned tables that PostgreSQL makes for each of their partitions. */
  readonly partitionKeys: readonly CatalogForeignKey[];
  /** Keys inferred for the exposed views and materialized views, by id. */
  readonly views: ReadonlyMap<number, CatalogView>;
  /** Foreign keys that exposed views inherit from the tables whose columns they show, from and to views. */
  readonly viewForeignKeys: readonly CatalogViewForeignKey[];
  /** The tables and views that exposed views read, at any depth, and these views: the schema of each, by id. */
  readonly viewRelations: ReadonlyMap<number, string>;
  /** Types of columns, arguments and results, the element types of arrays, and the enums of the exposed schemas. */
  readonly types: ReadonlyMap<number, CatalogType>;
  /** Schemas, exposed or not, whose operators compare columns. Without pg_catalog, which is always searched. */
  readonly operatorSchemas: readonly Pick<CatalogSchema, 'id' | 'name'>[];
  readonly searchConfigs: readonly CatalogSearchConfig[];
  /** The schema of the extension PostGIS; null if it is not installed. */
  readonly postgisSchemaId: number | null;
  /** The schema of the extension pg_trgm, as SQL; null if it is not installed. */
  readonly trigrams: { readonly schemaId: number; readonly schema: string } | null;
  /** The extension pgvector; null if it is not installed. */
  readonly vectorExtension: VectorExtension | null;
  /** Functions of the exposed schemas, and functions of other schemas whose only argument is a row of an exposed table. */
  readonly functions: readonly CatalogFunction[];
  /** Functions of any schema that exposed tables or functions use, labelled immutable although they may read the caller's claims. */
  readonly mislabelled: readonly MislabelledFunction[];
}

/** A text search configuration, such as `pg_catalog.english`. */
export interface CatalogSearchConfig {
  readonly id: number;
  readonly schemaId: number;
  readonly schema: string;
  readonly name: string;
}

export interface MislabelledFunction {
  /** Its signature as SQL, qualified: `public.has_role(text)`. */
  readonly signature: string;
  /** Ids of the exposed tables that use it, at any depth. */
  readonly tableIds: readonly number[];
}

export interface CatalogSchema {
  readonly id: number;
  readonly name: string;
  readonly comment: string | null;
}

/** `pg_class.relkind`: table, partitioned table, view, materialized view, foreign table, composite type. */
export type RelationKind = 'r' | 'p' | 'v' | 'm' | 'f' | 'c';

export interface CatalogTable {
  readonly id: number;
  readonly schemaId: number;
  readonly name: string;
  readonly kind: RelationKind;
  readonly rowSecurity: boolean;
  /** Whether PostgreSQL parses and plans queries on it in the same way for every role. */
  readonly roleIndependent: boolean;
  readonly readEffects: SessionEffects;
  /** Those of reading included. */
  readonly writeEffects: SessionEffects;
  /** Whether other tables inherit from it. Queries on it return their rows too, but its unique indexes do not cover them. */
  readonly hasChildren: boolean;
  /** Whether NOT NULL holds for all of its rows, including those in child tables and partitions. */
  readonly keepsNotNull: boolean;
  /** Whether PostgreSQL allows it at all, whatever the privileges. For a view, its definition, rules and INSTEAD OF triggers decide. */
  readonly canInsert: boolean;
  readonly canUpdate: boolean;
  readonly canDelete: boolean;
  /** Whether a trigger, a rule or a foreign server may fill in columns of inserted rows. */
  readonly fillsColumns: boolean;
  /** Whether a statement-level trigger runs before rows are inserted. */
  readonly runsBeforeInsert: boolean;
  /** Null if PostgreSQL alone has the table. */
  readonly placement: Placement | null;
  readonly comment: string | null;
  /** In table order, without dropped and system columns. */
  readonly columns: readonly CatalogColumn[];
  /** Valid indexes over all rows (not partial). */
  readonly indexes: readonly CatalogIndex[];
  /** Unique indexes that can be arbiters, in order of id. */
  readonly arbiters: readonly CatalogArbiter[];
}

/** Where the rows of a table are, in a database with Citus (`pg_dist_partition`). */
export interface Placement {
  /**
   * `distributed`: on the shard that a column decides. `single shard`: on one of any node. `reference`: on all nodes. `local`: on the
   * coordinator, as Citus knows. `view`: wherever the tables are that a view shows.
   */
  readonly kind: 'distributed' | 'single shard' | 'reference' | 'local' | 'view';
  /** The column that decides the shard; null unless the table is distributed. */
  readonly column: string | null;
  /** Rows of tables with the same group are on the same node if their columns have the same value. */
  readonly group: number;
  readonly shards: number;
}

export interface CatalogColumn {
  readonly number: number;
  readonly name: string;
  readonly typeId: number;
  /** Maximum length of varchar(n) and char(n), in characters. */
  readonly maxLength: number | null;
  /** The type as SQL with its modifier, such as `numeric(14,4)`, qualified unless it is in pg_catalog; null if it has no modifier. */
  readonly modifiedType: string | null;
  readonly notNull: boolean;
  /** Its collation as SQL, qualified; null if its type has none. */
  readonly collation: string | null;
  /** Its HNSW and IVFFlat indexes, partial ones included. */
  readonly distanceIndexes: readonly DistanceIndex[];
  /** Whether PostgreSQL fills it in: generated, identity, or serial. */
  readonly automatic: boolean;
  /** Whether it is automatic and no statement may give it a value. */
  readonly generatedAlways: boolean;
  /** Whether the column or its domain has a default other than null. */
  readonly hasDefault: boolean;
  /** Whether the column or its domain rejects null. If only the domain does, reads can still return null. */
  readonly refusesNull: boolean;
  /** The text search configuration by which PostgreSQL fills it in, as SQL; null if that is unknown, or it is no tsvector. */
  readonly searchConfig: string | null;
  readonly comment: string | null;
}

export interface DistanceIndex {
  readonly method: string;
  /** Such as `vector_cosine_ops`. */
  readonly operatorClass: string;
}

export interface VectorExtension {
  /** The schema of its types and operators. */
  readonly schemaId: number;
  readonly quotedSchema: string;
  /** The second number of its version: 8 for 0.8.1. */
  readonly minor: number;
}

export interface CatalogIndex {
  readonly primary: boolean;
  readonly unique: boolean;
  /** Whether uniqueness is checked at once rather than at commit (`deferrable`). */
  readonly immediate: boolean;
  /** Key columns before the first expression; all key columns of a unique index. */
  readonly columns: readonly number[];
  /**
   * Whether the first key has nulls at the non-default end: `desc nulls last` or `nulls first`. Null if the index has no order that queries
   * sort by.
   */
  readonly movesNulls: boolean | null;
}

export interface CatalogArbiter {
  /** The name of the index, and of its constraint if it has one. */
  readonly name: string;
  /** Numbers of the columns in its keys, expressions and condition. */
  readonly columns: readonly number[];
  /** The conflict target that PostgreSQL infers it from, as SQL with qualified names; null for a constraint, which is named instead. */
  readonly inference: { readonly elements: readonly string[]; readonly condition: string | null } | null;
}

export interface CatalogForeignKey {
  readonly id: number;
  readonly name: string;
  readonly tableId: number;
  readonly columns: readonly number[];
  /** May belong to a table that is not exposed. */
  readonly targetId: number;
  readonly targetColumns: readonly number[];
  /** The target's qualified name, for messages. */
  readonly targetName: string;
  /** False if declared `not valid`: existing rows were not checked. */
  readonly validated: boolean;
  readonly comment: string | null;
}

/** What is inferred from the definition of a view. Columns are numbers, in view order. */
export interface CatalogView {
  /** Columns that identify a row; null if that cannot be proven. */
  readonly key: readonly number[] | null;
  /** Whether columns of the key may be null. Nulls are equal in it. */
  readonly keyMayBeNull: boolean;
  /** Whether any column is a key, because it has a single row, which is computed from others. */
  readonly isSummary: boolean;
  /** Why it has no key, phrased to follow the view's name. */
  readonly problem: string | null;
  /** Sets of columns in which no two rows are equal, unless a column is null. */
  readonly unique: readonly (readonly number[])[];
}

/**
 * A table's foreign key, seen through a view that shows its columns or its target; or a view's reference to the table whose rows it shows.
 */
export interface CatalogViewForeignKey {
  readonly name: string;
  /** The referencing table or a view of it. */
  readonly tableId: number;
  readonly columns: readonly number[];
  /** The referenced table or a view of it. At least one of the two is a view. */
  readonly targetId: number;
  readonly targetColumns: readonly number[];
  /** Whether it leads from a view's row to the row of a table that it shows, which only one row of the view does. */
  readonly sameRow: boolean;
  readonly comment: string | null;
}

export interface CatalogType {
  readonly id: number;
  readonly schemaId: number;
  readonly schema: string;
  readonly name: string;
  /** `pg_type.typtype`: base, composite, domain, enum, multirange, pseudo, range. */
  readonly kind: 'b' | 'c' | 'd' | 'e' | 'm' | 'p' | 'r';
  /** `pg_type.typcategory`; A is array. */
  readonly category: string;
  /** The element type of an array, otherwise 0. */
  readonly elementId: number;
  /** The relation that a composite type belongs to, otherwise 0. */
  readonly relationId: number;
  /** The type of the bounds of a range or multirange, otherwise 0. */
  readonly boundId: number;
  /** The type as SQL without modifiers, quoted, and qualified unless it is in pg_catalog. */
  readonly sql: string;
  /** The enum that a domain is based on, as SQL; null for all other types. */
  readonly enumSql: string | null;
  /** That enum's schema; null for all other types. */
  readonly enumSchema: Pick<CatalogSchema, 'id' | 'name'> | null;
  /** For a domain, the type that it is based on in the end, as SQL. */
  readonly baseSql: string | null;
  /** That type's id; 0 for all other types. */
  readonly baseId: number;
  /** The checks of a domain, without those of a domain that it is based on: `CHECK ((VALUE > 0))`. */
  readonly checks: readonly string[];
  /** Whether its ordering operators have names other than `<`, as those of hstore do. */
  readonly oddlyOrdered: boolean;
  /** Whether it is a base type that PostgreSQL cannot order, such as json, or a domain over one. */
  readonly unordered: boolean;
  /** What separates its values in the text of an array: mostly a comma, but a semicolon for box. */
  readonly delimiter: string;
  /** For types of columns: the id of the schema with the type's operators; 0 if that is pg_catalog or the type has none. */
  readonly operatorSchemaId: number;
  /**
   * For types of columns: the functions of their own "=", or for arrays of their own "@>" and the like, which PostgreSQL prefers to
   * built-in ones.
   */
  readonly operatorIds: readonly number[];
  /** Labels of an exposed enum, in order; null for all other types. */
  readonly labels: readonly string[] | null;
  readonly comment: string | null;
}

export interface CatalogFunction {
  readonly id: number;
  readonly schemaId: number;
  readonly schema: string;
  readonly name: string;
  /** `pg_proc.prokind`: function, procedure, aggregate, window function. */
  readonly kind: 'f' | 'p' | 'a' | 'w';
  /** Whether it belongs to an extension. */
  readonly extension: boolean;
  readonly volatile: boolean;
  /** Whether it is written in PL/pgSQL. */
  readonly plpgsql: boolean;
  readonly effects: SessionEffects;
  /** Whether it finds no rows of distributed tables, because PostgreSQL makes its query a part of the one that calls it. */
  readonly missesShards: boolean;
  readonly variadic: boolean;
  readonly returnsSet: boolean;
  /** Declared number of rows (`rows`); 0 if it does not return a set. */
  readonly rows: number;
  readonly resultTypeId: number;
  /** Input arguments: `in`, `inout` and `variadic`. */
  readonly arguments: readonly CatalogArgument[];
  /**
   * Whether PostgreSQL refuses calls of it, with its only argument, because a namesake has defaults for all arguments after the same one.
   */
  readonly ambiguous: boolean;
  readonly comment: string | null;
}

export interface CatalogArgument {
  /** Empty if unnamed. */
  readonly name: string;
  readonly typeId: number;
  readonly hasDefault: boolean;
  /** The default as an SQL expression, or null. */
  readonly defaultSql: string | null;
}

export interface SessionEffects {
  /**
   * Whether it may see what the session keeps of earlier callers: the last values of sequences, and plans. When PostgreSQL plans a call of
   * a function that is labelled immutable, it evaluates it and keeps the result in the plan
   * (https://www.postgresql.org/docs/current/xfunc-volatility.html), even if the function reads the claims.
   */
  readonly readsSession: boolean;
  /** Whether it may leave settings, locks, cursors or temporary tables on the connection. */
  readonly changesSession: boolean;
}
