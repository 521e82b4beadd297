/**
 * What PostgreSQL's catalogs say about the exposed schemas, as plain rows: no role, no GraphQL names, no rules. Loaded by `load-catalog.ts` in one
 * query, shared by all roles, read by `model/`. Ids are oids; lists are in the order of their ids. Only comments that contain a directive are loaded.
 */

export interface Catalog {
  /** PostgreSQL's name of the encoding of the database: `UTF8`. */
  readonly encoding: string;
  /** The exposed schemas as configured, including those that do not exist. */
  readonly setting: readonly string[];
  /** The exposed schemas that exist, in the order of the setting. */
  readonly schemas: readonly CatalogSchema[];
  readonly tables: readonly CatalogTable[];
  /** Foreign keys of the exposed tables, including those to tables that are not exposed. */
  readonly foreignKeys: readonly CatalogForeignKey[];
  /** What is inferred about the exposed views and materialized views, by id. */
  readonly views: ReadonlyMap<number, CatalogView>;
  /** The foreign keys of tables, as far as exposed views show their columns: from and to views. */
  readonly viewForeignKeys: readonly CatalogViewForeignKey[];
  /** The types of columns, arguments and results, including the element types of arrays, and the enums of the exposed schemas. */
  readonly types: ReadonlyMap<number, CatalogType>;
  /** The schemas, exposed or not, that hold the operators by which columns are compared; pg_catalog aside, which is always searched. */
  readonly operatorSchemas: readonly Pick<CatalogSchema, 'id' | 'name'>[];
  /** The functions of the exposed schemas, and those of other schemas whose only argument is a row of an exposed table. */
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
  /** Whether PostgreSQL parses and plans queries of it in the same way for every role. */
  readonly roleIndependent: boolean;
  /** For views: whether tables are read with the privileges of the caller rather than those of the view's owner. */
  readonly securityInvoker: boolean;
  /** Whether other tables inherit from it. Their rows are read with its own, but its unique indexes do not cover them. */
  readonly hasChildren: boolean;
  /** Whether NOT NULL holds for all of its rows, including those of its children and partitions. */
  readonly keepsNotNull: boolean;
  /** What PostgreSQL can do with it regardless of privileges. For a view, its definition, rules and instead-of triggers decide. */
  readonly canInsert: boolean;
  readonly canUpdate: boolean;
  readonly canDelete: boolean;
  /** Whether a trigger, a rule or another server may fill in columns of rows that are inserted. */
  readonly fillsColumns: boolean;
  readonly comment: string | null;
  /** Without dropped and system columns, in the order of the table. */
  readonly columns: readonly CatalogColumn[];
  /** Valid indexes over all rows, as the numbers of their key columns. */
  readonly indexes: readonly CatalogIndex[];
  /** The unique indexes that can settle a conflict, in the order of their ids. */
  readonly arbiters: readonly CatalogArbiter[];
}

export interface CatalogColumn {
  /** `pg_attribute.attnum`. */
  readonly number: number;
  readonly name: string;
  readonly typeId: number;
  /** Maximum length of varchar(n) and char(n), in characters. */
  readonly maxLength: number | null;
  /** The type as SQL text with its modifier, such as `numeric(14,4)`, qualified unless it is in pg_catalog; null if it has none. */
  readonly modifiedType: string | null;
  readonly notNull: boolean;
  /** Whether PostgreSQL fills it in: generated, identity, or with a sequence of its own (serial). */
  readonly automatic: boolean;
  /** Whether PostgreSQL has a value for a row that comes without one, other than null. */
  readonly hasDefault: boolean;
  /** Whether it refuses null, by itself or by its domain; what is read of it can still be null where only the domain does. */
  readonly refusesNull: boolean;
  readonly comment: string | null;
}

export interface CatalogIndex {
  readonly primary: boolean;
  /** Whether it guarantees that its columns are unique. */
  readonly unique: boolean;
  /** Whether it does so immediately, rather than when a transaction commits. */
  readonly immediate: boolean;
  /** The key columns before the first expression; in a unique index, all of them. */
  readonly columns: readonly number[];
  /** Whether the nulls of its first key stand where they do not by default: `desc nulls last`, or `nulls first`. Null if it is in no order that rows are sorted by. */
  readonly movesNulls: boolean | null;
}

/** A unique index that `on conflict` can name so that PostgreSQL takes it and no other. */
export interface CatalogArbiter {
  /** The name of the index, and of its constraint if it has one. */
  readonly name: string;
  /** The columns that it reads, in keys, expressions and condition, as numbers. */
  readonly columns: readonly number[];
  /** What PostgreSQL infers it from, as SQL whose names are qualified; null for a constraint, which is named. */
  readonly inference: { readonly elements: readonly string[]; readonly condition: string | null } | null;
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
  /** False if existing rows were not checked (`not valid`). */
  readonly validated: boolean;
  readonly comment: string | null;
}

/** What follows from the definition of a view. Columns are numbers, in the order of the view. */
export interface CatalogView {
  /** The columns that identify its rows, none of which is ever null; null if that is not certain. */
  readonly key: readonly number[] | null;
  /** Why it has no key, in words that follow the name of the view. */
  readonly problem: string | null;
  /** Columns that no two rows share, unless one of them is null. */
  readonly unique: readonly (readonly number[])[];
}

/** A foreign key whose columns a view shows, or whose target a view shows. */
export interface CatalogViewForeignKey {
  readonly name: string;
  /** The table that has it. */
  readonly ownerId: number;
  /** The table, or a view of it, that refers. */
  readonly tableId: number;
  readonly columns: readonly number[];
  /** The table or a view of it. At least one of the two is a view. */
  readonly targetId: number;
  readonly targetColumns: readonly number[];
  /** Of the constraint. */
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
  /** The type as SQL text without modifiers, quoted, and qualified unless it is in pg_catalog. */
  readonly sql: string;
  /** The enum that a domain is over, likewise; null for all other types. */
  readonly enumSql: string | null;
  /** Whether PostgreSQL puts its values in order by operators of other names than `<`, as those of hstore. */
  readonly oddlyOrdered: boolean;
  /** Of the type of a column: the id of the schema that holds its operators; 0 if that is pg_catalog, or if it has none of its own. */
  readonly operatorSchemaId: number;
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
  /** Whether it is written in PL/pgSQL. */
  readonly plpgsql: boolean;
  readonly variadic: boolean;
  readonly returnsSet: boolean;
  /** The number of rows that a set is declared to have; 0 if it does not return a set. */
  readonly rows: number;
  readonly resultTypeId: number;
  /** Input arguments: in, inout and variadic. */
  readonly arguments: readonly CatalogArgument[];
  readonly comment: string | null;
}

export interface CatalogArgument {
  /** Empty if it has none. */
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
  /** What it may do with the objects of the catalog, for `readPrivileges`. Roles with equal texts have equal privileges. */
  readonly privileges: string;
}

/** What a role may do with the objects of a catalog, according to PostgreSQL. */
export interface Privileges {
  readonly role: string;
  /** The schemas that it may use, by id. */
  readonly schemas: Granted;
  readonly tables: { get(id: number): TablePrivileges | undefined };
  /** The functions that it may execute, by id. */
  readonly functions: Granted;
  /** The enums that it may use, by id. */
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
  /** The columns with privileges beyond those of the table, by number. */
  readonly columns: ReadonlyMap<number, ColumnPrivileges>;
}
