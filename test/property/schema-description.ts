/**
 * A random schema as data: what `schema-sql.ts` makes in PostgreSQL and what the evaluator knows of it without asking rowgraph.
 */
import type { TableKind } from '../../src/model/model.ts';
import type { ColumnType, CompositeDescription, DomainDescription, EnumDescription, Shape } from './column-types.ts';

/** The object of a comment directive. */
export type Directive = Record<string, unknown>;

/** A row: the text of each value by column. */
export type Row = Map<string, string | null>;

export interface SchemaDescription {
  readonly name: string;
  readonly directive: Directive;
  readonly enums: readonly EnumDescription[];
  /** Those of base types, of composite types, and of rows. */
  readonly domains: DomainDescription[];
  /** Each after those that it has attributes of. */
  readonly composites: readonly CompositeDescription[];
  readonly tables: TableDescription[];
  readonly foreignKeys: ForeignKeyDescription[];
  readonly routines: RoutineDescription[];
  /** Roles that may use the schema. */
  readonly usableBy: readonly string[];
}

export interface TableDescription {
  readonly name: string;
  readonly columns: ColumnDescription[];
  /** Columns of the primary key as declared; empty where there is none. */
  primaryKey: readonly string[];
  /** Columns of unique constraints. */
  readonly uniqueKeys: string[][];
  /** Further unique indexes, which have the columns of the primary key and so hold for all rows. */
  readonly uniqueIndexes: UniqueIndexDescription[];
  /** Whether the rows are in partitions, which are in a schema that is not exposed. */
  readonly isPartitioned: boolean;
  /** Whether a table in that schema inherits from it; it has some of the rows where no foreign key needs them. */
  readonly isInherited: boolean;
  /** What the view shows; null for a table. */
  readonly view: ViewDescription | null;
  directive: Directive;
  rowSecurity: boolean;
  readonly policies: PolicyDescription[];
  readonly grants: GrantDescription[];
  rows: Row[];
}

export interface UniqueIndexDescription {
  readonly name: string;
  readonly columns: readonly string[];
  readonly conditionSql: string | null;
}

export interface ColumnDescription {
  readonly name: string;
  readonly type: ColumnType;
  notNull: boolean;
  readonly defaultSql: string | null;
  /** The expression of a generated column. */
  readonly generatedSql: string | null;
  readonly identity: 'by default' | 'always' | null;
  directive: Directive | null;
  /** Of JSON, what a directive says that it is like. */
  shape: Shape | null;
}

export interface ViewDescription {
  readonly source: TableDescription;
  /** The columns of the source, in the order of the view's. */
  readonly sourceColumns: readonly string[];
  readonly conditionSql: string | null;
  readonly kind: 'view' | 'view of the invoker' | 'materialized view';
}

export interface ForeignKeyDescription {
  readonly name: string;
  readonly local: TableDescription;
  readonly localColumns: readonly string[];
  readonly target: TableDescription;
  readonly targetColumns: readonly string[];
  readonly directive: Directive | null;
  /** Whether only a directive of its table declares it. */
  readonly declared: boolean;
  readonly onDelete: 'no action' | 'cascade' | 'set null';
}

export interface RoutineDescription {
  readonly name: string;
  readonly body: RoutineBody;
  /** Without the row of a computed field. */
  readonly arguments: readonly ArgumentDescription[];
  /** Whether it is a field of Mutation. */
  readonly isVolatile: boolean;
  readonly directive: Directive | null;
  /** The roles that may execute it; null for all. */
  readonly callableBy: readonly string[] | null;
}

export interface ArgumentDescription {
  readonly name: string;
  readonly type: ColumnType;
  readonly defaultSql: string | null;
}

export type RoutineBody =
  | { readonly kind: 'all rows'; readonly table: TableDescription }
  /** A computed field: a column as text, with the argument or a question mark after it; or a set of as many of its texts as the argument says. */
  | { readonly kind: 'text of a column' | 'copies of a column'; readonly table: TableDescription; readonly column: string }
  /** The argument says how many of the rows; with `out`, which row. */
  | {
      readonly kind: 'constants';
      readonly returns: 'setof' | 'table' | 'out';
      readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
      readonly rows: readonly (readonly (string | null)[])[];
    }
  /** The argument. */
  | { readonly kind: 'echo'; readonly type: ColumnType }
  /** Sets a column of the rows whose key is the argument, or at least that; returns the rows, the one, or how many. */
  | {
      readonly kind: 'set column';
      readonly table: TableDescription;
      readonly changed: string;
      readonly key: string;
      readonly returns: 'rows' | 'row' | 'count';
    };

export interface PolicyDescription {
  readonly name: string;
  readonly command: 'all' | 'select' | 'insert' | 'update' | 'delete';
  readonly role: string;
  readonly conditionSql: string;
}

export interface GrantDescription {
  readonly role: string;
  readonly verb: Verb | 'all';
  /** Null: on the whole table. */
  readonly columns: readonly string[] | null;
}

export type Verb = 'select' | 'insert' | 'update' | 'delete';

/** Whether a role may do something with a column. */
export function isGranted({ grants }: TableDescription, role: string, verb: Verb, column: string): boolean {
  return grants.some(
    (grant) => grant.role === role && (grant.verb === 'all' || grant.verb === verb) && (grant.columns?.includes(column) ?? true),
  );
}

/** Whether a role may select every column of a table. */
export function maySelectAll(role: string, table: TableDescription): boolean {
  return table.columns.every(({ name }) => isGranted(table, role, 'select', name));
}

/** The columns that identify a row in the API, in the order that nodeIds and cursors have them; empty where there are none. */
export function keyColumns(table: TableDescription): readonly string[] {
  if (table.primaryKey.length > 0) return table.columns.map(({ name }) => name).filter((name) => table.primaryKey.includes(name));
  const declared = table.directive.primary_key_columns;
  return Array.isArray(declared) ? (declared as string[]) : inferredColumns(table);
}

/** The primary key of the table that a view shows, if it shows all of it. */
function inferredColumns({ columns, view }: TableDescription): readonly string[] {
  if (view === null) return [];
  const key = view.source.primaryKey;
  const shown = columns.filter((_, index) => key.includes(view.sourceColumns[index]!));
  return shown.length === key.length ? shown.map(({ name }) => name) : [];
}

/** What PostgreSQL calls such a table. */
export function kindOf({ view, isPartitioned }: TableDescription): TableKind {
  if (view) return view.kind === 'materialized view' ? view.kind : 'view';
  return isPartitioned ? 'partitioned table' : 'table';
}

export function columnOf(table: TableDescription, name: string): ColumnDescription {
  const column = table.columns.find((each) => each.name === name);
  if (!column) throw new Error(`${table.name} has no column ${name}.`);
  return column;
}
