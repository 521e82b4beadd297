/**
 * What one role sees of the database, and under which GraphQL names: plain, frozen, linked data, of which each table is filled in when it is first read.
 * Built by `build-model.ts` from the catalog; read by `schema/`, `plan/` and `compile/`. No SQL and no GraphQL types here.
 */

import type { Additions } from './additions.ts';
import type { ScalarName, TypeSuffix } from './graphql-names.ts';

/** Everything that one role may use of the exposed schemas. */
export interface Model {
  readonly role: string;
  /** The exposed schemas that exist and that the role may use, in the order of the setting. */
  readonly schemas: readonly string[];
  readonly tables: readonly Table[];
  /** Tables and views without a key whose rows computed fields return: they have a row type, without `nodeId`, and nothing else. */
  readonly rowTypes: readonly Table[];
  /** Functions that are fields of Query or Mutation (computed fields are in their tables). */
  readonly routines: readonly Routine[];
  readonly enums: readonly EnumType[];
  /** Whether introspection is enabled for any of the schemas. */
  readonly introspection: boolean;
  /** The name of the global identifier of rows, in rows, filters and the argument of `node`. */
  readonly nodeIdField: string;
  /** Whether scalars name the page that specifies them (`@specifiedBy`). */
  readonly specifiesScalars: boolean;
  /** How many of its tables are filled in: only those that something has read take much memory. */
  readonly countBuilt: () => number;
}

/** A model with what is not in it, and why. */
export interface ReportedModel extends Model {
  /** What is in the exposed schemas but not in the API for this role, with the reason. */
  readonly exclusions: readonly Exclusion[];
  /** What has a different GraphQL name because its own is taken. */
  readonly renamings: readonly Renaming[];
  /** Foreign keys that follow from the definitions of views, each of which is a relation of both its tables. */
  readonly inferredKeys: readonly InferredKey[];
}

/** A foreign key of a view, or to one. Columns are those of PostgreSQL. */
export interface InferredKey {
  /** The oid of the table or view that refers. */
  readonly tableId: number;
  readonly columns: readonly string[];
  readonly target: Table;
  readonly targetColumns: readonly string[];
}

export type TableKind = 'table' | 'partitioned table' | 'view' | 'materialized view' | 'foreign table';

/** A relation of PostgreSQL with rows: a table or what can be read like one. */
export interface Table {
  /** `pg_class.oid`. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly kind: TableKind;
  /** GraphQL name of the row type. */
  readonly typeName: string;
  /** What the names of its root fields and other types are made of: the row type's name, or what that would be if it were not taken. */
  readonly stem: string;
  /** The types of the table whose plain names are taken, with the names that they have; `tableTypeName` gives the names of all. */
  readonly renamedTypes: ReadonlyMap<TypeSuffix, string>;
  readonly description: string | null;
  /** Columns that the role may select, insert or update and whose name GraphQL can carry, in the order of the table. */
  readonly columns: readonly Column[];
  /** Key columns (also those that the role may not select), in the order of the table's columns, as pg_graphql orders them; none of a row type. */
  readonly primaryKey: readonly Column[];
  /** Whether Query has a field that takes the key. */
  readonly hasLookup: boolean;
  /** Whether no two rows can have the same key: those of views may, and those of tables that others inherit from. */
  readonly keyIsUnique: boolean;
  /** Whether NOT NULL holds for all of its rows: foreign servers need not keep to it, nor tables that inherit from it. */
  readonly keepsNotNull: boolean;
  /** Whether an insert writes every row or fails: no trigger or rule may leave one out. */
  readonly insertsEveryRow: boolean;
  /** The columns of its unique indexes, each set of which identifies a row where none of them is null; none with columns that the role may not select. */
  readonly uniqueKeys: readonly (readonly Column[])[];
  /** What can settle a conflict of an insert, for this role; none without the addition. */
  readonly arbiters: readonly Arbiter[];
  /** With the tables at their other ends. */
  readonly relations: readonly Relation[];
  /** The tables whose relations or computed fields may lead to this one. */
  readonly referrers: readonly Table[];
  /** Functions over the row type, with a name not taken by another field. */
  readonly computed: readonly Routine[];
  /** Whether row level security applies to it. */
  readonly rowSecurity: boolean;
  /** Whether PostgreSQL parses and plans queries of it in the same way for every role. */
  readonly roleIndependent: boolean;
  /** The largest page. */
  readonly maxRows: number;
  readonly totalCount: boolean;
  readonly aggregate: boolean;
  /** Whether the role has the entry points (grants, and for views what PostgreSQL allows). */
  readonly selectable: boolean;
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  /** What it has beyond pg_graphql's schema. */
  readonly additions: Additions;
  /** Whether introspection is enabled for its schema. */
  readonly introspection: boolean;
}

/** A unique index that an insert can name in `on conflict`. */
export interface Arbiter {
  /** Its value in the enum of the table's constraints. */
  readonly valueName: string;
  /** What is unique, in words of SQL. */
  readonly description: string;
  readonly target:
    | { readonly kind: 'constraint'; readonly name: string /** Those of PostgreSQL. */; readonly columns: readonly string[] }
    /** What PostgreSQL infers the index from, as SQL of its own making. */
    | { readonly kind: 'index'; readonly elements: readonly string[]; readonly condition: string | null };
}

export interface Column {
  readonly name: string;
  /** Its name in inserts, updates, orders, aggregates and lookups by key. */
  readonly fieldName: string;
  /** Its name in rows, which differs if another field has taken the plain name. */
  readonly rowFieldName: string;
  /** Its name in filters, where that of the global identifier is taken. */
  readonly filterName: string;
  readonly description: string | null;
  readonly type: ValueType;
  readonly notNull: boolean;
  /** Whether an index begins with it that has it in order. */
  readonly leadsIndex: boolean;
  /** Whether all of those indexes have its nulls where they are not by default: `desc nulls last`, or `nulls first`. */
  readonly indexMovesNulls: boolean;
  /** Whether it can be ordered by: no array, JSON or composite type, as pg_graphql has it. */
  readonly orderable: boolean;
  readonly selectable: boolean;
  readonly insertable: boolean;
  /** Whether an insert must give it a value. */
  readonly required: boolean;
  readonly updatable: boolean;
  /** Whether a row that comes without it has null there, as far as no trigger fills it in. */
  readonly nullByDefault: boolean;
}

export type ValueType = ScalarType | EnumValueType | ListType | RowType | RowListType | CompositeType | UnsupportedType;

export interface ScalarType {
  readonly kind: 'scalar';
  readonly scalar: ScalarName;
  /** The type as SQL text for a cast, quoted and qualified where needed: `numeric(14,4)`, `public."Mood"` (pg_catalog.format_type). */
  readonly sqlType: string;
  /** `pg_type.typname`: 'int4', 'timestamptz', 'numeric', … (of a domain: the domain's own name). */
  readonly typeName: string;
  /** Longest text in characters of varchar(n) and char(n). */
  readonly maxLength: number | null;
  /** Set if its JSON may be an object or a list, as that of hstore, of a domain over jsonb or a composite type, and of PostGIS' geometry. */
  readonly nestsInJson?: true;
  /** The enum that a domain is over, as SQL text: PostgreSQL compares values of the enum, and not of the domain. */
  readonly comparedAs?: string;
  /** Set if PostgreSQL puts its values in order by operators of other names than `<`. */
  readonly oddlyOrdered?: true;
}

export interface EnumValueType {
  readonly kind: 'enum';
  readonly enum: EnumType;
  readonly sqlType: string;
}

export interface ListType {
  readonly kind: 'list';
  readonly element: ScalarType | EnumValueType;
  /** The array type as SQL text. */
  readonly sqlType: string;
}

/** A column whose type is the row type of a table of the API (read only). */
export interface RowType {
  readonly kind: 'row';
  readonly table: Table;
  readonly sqlType: string;
}
export interface RowListType {
  readonly kind: 'row list';
  readonly table: Table;
  readonly sqlType: string;
}

/** A composite type that is not the row type of a table of the API: no field can have it, but it may be that of a key. */
export interface CompositeType {
  readonly kind: 'composite';
  readonly sqlType: string;
}

/** An array of such a type, or a domain over an array, which rows may be ordered by: no field can have it. */
export interface UnsupportedType {
  readonly kind: 'unsupported';
  readonly sqlType: string;
}

export interface EnumType {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly typeName: string;
  readonly description: string | null;
  /**
   * In declared order. `name` is the GraphQL name (by the mapping of the directive, or the label); of two labels with one name both are read
   * under it, and the first is written.
   */
  readonly values: readonly EnumValue[];
  /** Whether any value has another name than its label. */
  readonly mapped: boolean;
  readonly introspection: boolean;
}
export interface EnumValue {
  readonly name: string;
  readonly label: string;
}

/** A foreign key seen from one of its sides, as a field of `Table.relations`. */
export interface Relation {
  readonly fieldName: string;
  readonly kind: 'to-one' | 'to-many';
  readonly target: Table;
  /** Whether the near table is the one that refers, whose columns the foreign key is made of. */
  readonly holdsKey: boolean;
  /** Pairs of column names: the near table's, the target's. */
  readonly columns: readonly { readonly near: string; readonly target: string }[];
  /** To-one: whether the field may be null. */
  readonly nullable: boolean;
  /** To-one: whether a constraint guarantees at most one row (not so for keys that a directive declares). */
  readonly unique: boolean;
}

export interface Routine {
  /** `pg_proc.oid`. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly fieldName: string;
  readonly description: string | null;
  readonly volatile: boolean;
  /** Whether it is written in PL/pgSQL, so that the context of every error inside names it. */
  readonly plpgsql: boolean;
  /** Input arguments whose name GraphQL can carry; a computed field has none (the row is not listed). */
  readonly arguments: readonly RoutineArgument[];
  /** An argument that it requires and that no call can give, because GraphQL cannot carry its name. */
  readonly unreachableArgument: string | null;
  readonly result: RoutineResult;
  readonly introspection: boolean;
}

export interface RoutineArgument {
  /** PostgreSQL's name, for named notation. */
  readonly name: string;
  readonly argumentName: string;
  readonly type: ScalarType | EnumValueType | ListType;
  /** Whether it takes all further arguments of a call, as a list. There is at most one, the last. */
  readonly variadic: boolean;
  /** No default: the argument must be given and may not be null. */
  readonly required: boolean;
  /** The default as introspection shows it (a JavaScript value); undefined if it is none or an expression. */
  readonly defaultValue: unknown;
}

export type RoutineResult =
  | { readonly kind: 'value'; readonly type: ScalarType | EnumValueType | ListType }
  | { readonly kind: 'void' }
  /** One row or null: `returns t`, or `returns setof t rows 1`. */
  | { readonly kind: 'row'; readonly table: Table; readonly setOf: boolean }
  /** `returns setof t`: a connection. */
  | { readonly kind: 'rows'; readonly table: Table };

/** An object of the exposed schemas that is not in the API, and why. */
export interface Exclusion {
  readonly object: TableKind | 'column' | 'relation' | 'function' | 'argument' | 'enum' | 'enum value' | 'schema';
  /** The oid of the table, function, enum or schema that it is or belongs to; 0 of a schema that does not exist. */
  readonly id: number;
  /** Qualified name: `public.account.balance`, `public.total(integer)`. */
  readonly name: string;
  readonly cause: ExclusionCause;
  /** The cause in words, and what to do. */
  readonly reason: string;
  /** The missing privilege, if that is the cause; otherwise null. */
  readonly lacking: LackingPrivilege | null;
}

/** Something that has another GraphQL name because its own is taken. */
export interface Renaming {
  readonly object: Exclusion['object'];
  /** The oid of the table, function or enum that it is or belongs to. */
  readonly id: number;
  readonly name: string;
  /** What is taken, and what it is called instead. */
  readonly reason: string;
}

export type ExclusionCause =
  | 'missing-schema'
  | 'not-granted'
  | 'owner-left-out'
  | 'no-columns'
  | 'no-key'
  | 'illegal-name'
  | 'name-taken'
  | 'unsupported-type'
  | 'not-callable'
  | 'unusable-directive';

/** `usage` of a schema, `select` on a table or one of its columns, `execute` of a function. */
export interface LackingPrivilege {
  readonly privilege: 'usage' | 'select' | 'execute';
  /** The oid of the schema, table or function. */
  readonly id: number;
  /** The name of the column; null for the whole object. */
  readonly column: string | null;
}
