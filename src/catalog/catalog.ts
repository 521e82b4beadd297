/**
 * What PostgreSQL's catalogs say about the exposed schemas, as plain rows: no role, no GraphQL names, no rules.
 * Loaded by `load-catalog.ts` in one query, shared by all roles, read by `model/`. Ids are oids; lists are in the order of their ids.
 * Of comments only those are loaded that hold a directive.
 */

export interface Catalog {
  /** The exposed schemas as the setting has them, also those that do not exist. */
  readonly setting: readonly string[];
  /** The exposed schemas that exist, in the order of the setting. */
  readonly schemas: readonly CatalogSchema[];
  readonly tables: readonly CatalogTable[];
  /** Foreign keys of the exposed tables, also those to tables that are not exposed. */
  readonly foreignKeys: readonly CatalogForeignKey[];
  /** The types of columns, arguments and results, the elements of arrays among them, and the enums of the exposed schemas. */
  readonly types: ReadonlyMap<number, CatalogType>;
  /** The functions of the exposed schemas, and those of other schemas whose one argument is a row of an exposed table. */
  readonly functions: readonly CatalogFunction[];
}

export interface CatalogSchema {
  readonly id: number;
  readonly name: string;
  readonly comment: string | null;
}

/** `pg_class.relkind`: table, partitioned table, view, materialized view, foreign table. */
export type RelationKind = 'r' | 'p' | 'v' | 'm' | 'f';

export interface CatalogTable {
  readonly id: number;
  readonly schemaId: number;
  readonly name: string;
  readonly kind: RelationKind;
  readonly rowSecurity: boolean;
  /** For views: whether tables are read with the privileges of the caller and not of the view's owner. */
  readonly securityInvoker: boolean;
  /** Whether other tables inherit from it, whose rows are among its own although its unique indexes do not hold them. */
  readonly hasChildren: boolean;
  /** Whether NOT NULL holds for all of its rows, those of its children and partitions among them. */
  readonly keepsNotNull: boolean;
  /** What PostgreSQL can do with it at all, whoever asks: views by their definition, rules and instead-of triggers. */
  readonly canInsert: boolean;
  readonly canUpdate: boolean;
  readonly canDelete: boolean;
  readonly comment: string | null;
  /** Without dropped and system columns, in the order of the table. */
  readonly columns: readonly CatalogColumn[];
  /** Valid indexes over all rows, as the numbers of their key columns. */
  readonly indexes: readonly CatalogIndex[];
}

export interface CatalogColumn {
  /** `pg_attribute.attnum`. */
  readonly number: number;
  readonly name: string;
  readonly typeId: number;
  /** Longest text in characters of varchar(n) and char(n). */
  readonly maxLength: number | null;
  /** The type as SQL text with its modifier, such as `numeric(14,4)`, qualified unless it is in pg_catalog; null if it has none. */
  readonly modifiedType: string | null;
  readonly notNull: boolean;
  /** Whether PostgreSQL fills it: generated, identity, or with a sequence of its own (serial). */
  readonly automatic: boolean;
  readonly comment: string | null;
}

export interface CatalogIndex {
  readonly primary: boolean;
  /** Whether it guarantees that its columns are unique. */
  readonly unique: boolean;
  /** Whether it does so at once, and not only when a transaction commits. */
  readonly immediate: boolean;
  /** The key columns before the first expression; of a unique index always all. */
  readonly columns: readonly number[];
}

export interface CatalogForeignKey {
  readonly id: number;
  readonly name: string;
  readonly tableId: number;
  readonly columns: readonly number[];
  /** May be the id of a table that is not exposed. */
  readonly targetId: number;
  readonly targetColumns: readonly number[];
  /** The target's qualified name, for messages. */
  readonly targetName: string;
  /** False where existing rows were not checked (`not valid`). */
  readonly validated: boolean;
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
  /** Of arrays the type of the elements, otherwise 0. */
  readonly elementId: number;
  /** Of composite types the relation that they belong to, otherwise 0. */
  readonly relationId: number;
  /** The type as SQL text without modifiers, quoted, and qualified unless it is in pg_catalog. */
  readonly sql: string;
  /** Labels of an enum of the exposed schemas, in order; null for all other types. */
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
  /** Whether it runs with the privileges of its owner. */
  readonly securityDefiner: boolean;
  readonly variadic: boolean;
  readonly returnsSet: boolean;
  /** The number of rows that a set is declared to have; 0 without a set. */
  readonly rows: number;
  readonly resultTypeId: number;
  /** Input arguments: in, inout and variadic. */
  readonly arguments: readonly CatalogArgument[];
  readonly comment: string | null;
}

export interface CatalogArgument {
  /** Empty where it has none. */
  readonly name: string;
  readonly typeId: number;
  readonly hasDefault: boolean;
  /** The default as an SQL expression, or null. */
  readonly defaultSql: string | null;
}

/** A role as PostgreSQL knows it. */
export interface CatalogRole {
  readonly name: string;
  /** Whether the login role is a member of it, and so may act as it. */
  readonly assumable: boolean;
  /** Whether it is the login role itself. */
  readonly isLogin: boolean;
  /** The superusers and predefined roles (`pg_read_all_data` and the like) that it is, or is a member of. */
  readonly powers: readonly string[];
  /** What it may do with the objects of the catalog, for `readPrivileges`. Roles of equal texts have equal privileges. */
  readonly privileges: string;
}

/** What one role may do with the objects of a catalog, as PostgreSQL says. */
export interface Privileges {
  readonly role: string;
  /** Of schemas that it may use, by id. */
  readonly schemas: Granted;
  readonly tables: { get(id: number): TablePrivileges | undefined };
  /** Of functions that it may execute, by id. */
  readonly functions: Granted;
  /** Of enums that it may use, by id. */
  readonly types: Granted;
}

export interface Granted {
  has(id: number): boolean;
}

export interface ColumnPrivileges {
  readonly select: boolean;
  readonly insert: boolean;
  readonly update: boolean;
}

export interface TablePrivileges extends ColumnPrivileges {
  readonly delete: boolean;
  /** By number, the columns with privileges beyond those of the table. */
  readonly columns: ReadonlyMap<number, ColumnPrivileges>;
}
