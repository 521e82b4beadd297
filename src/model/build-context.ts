/**
 * What `build-model.ts` works on: the tables that the role sees, while they are filled in and linked, and what all steps need.
 * Nothing of this leaves the folder; outside, a `Model` is read-only.
 */
import type { Catalog, CatalogColumn, CatalogTable, ColumnPrivileges, Privileges } from '../catalog/catalog.ts';
import type { Directive } from './directives.ts';
import type { EnumType, Exclusion, InferredKey, Relation, Renaming, Table, ValueType } from './model.ts';
import type { ModelSettings } from './model-settings.ts';
import type { TakenNames } from './taken-names.ts';

/** An exposed schema that the role may use, and what its comment directive sets. */
export interface SchemaSettings {
  readonly id: number;
  readonly name: string;
  readonly inflection: boolean;
  readonly maxRows: number;
  readonly introspection: boolean;
  readonly directive: Directive;
}

/** A part of the model while it is being built. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A table whose columns, relations and computed fields are still to come. */
export interface TableContext {
  readonly source: CatalogTable;
  readonly schema: SchemaSettings;
  readonly directive: Directive;
  readonly table: Mutable<Table>;
  /** The key columns, in their order; null for a table without a key, which has only a row type. */
  readonly key: readonly CatalogColumn[] | null;
}

export interface RelationNames {
  readonly name: string;
  readonly qualified: string;
  /** Whether it is inferred, and so gives way to all that pg_graphql has. */
  readonly inferred: boolean;
}

export interface BuildContext {
  readonly settings: { readonly [Name in keyof ModelSettings]-?: Exclude<ModelSettings[Name], undefined> };
  readonly catalog: Catalog;
  readonly privileges: Privileges;
  /** All tables of those schemas, by id. */
  readonly sources: ReadonlyMap<number, CatalogTable>;
  /** By id. */
  readonly schemas: ReadonlyMap<number, SchemaSettings>;
  /** The tables that the role sees, by id, and those of which it sees only rows. */
  readonly tables: Map<number, TableContext>;
  readonly enums: Map<number, EnumType>;
  readonly names: TakenNames;
  /** What `value-types.ts` has built so far, so that columns of the same type share it. */
  readonly valueTypes: Map<number, ValueType>;
  /** The names of relations in messages, and in rows where their own names are taken. */
  readonly relationNames: Map<Relation, RelationNames>;
  readonly exclusions: Exclusion[];
  readonly renamings: Renaming[];
  readonly inferredKeys: InferredKey[];
}

const noPrivileges: ColumnPrivileges = { select: false, insert: false, update: false };

/** What the role may do with a column: what it may do with the table, and what is granted on the column. */
export function privilegesOn(
  { privileges }: Pick<BuildContext, 'privileges'>,
  table: CatalogTable,
  column: CatalogColumn,
): ColumnPrivileges {
  const onTable = privileges.tables.get(table.id);
  if (!onTable) return noPrivileges;
  const onColumn = onTable.columns.get(column.number);
  if (!onColumn) return onTable;
  return {
    select: onTable.select || onColumn.select,
    insert: onTable.insert || onColumn.insert,
    update: onTable.update || onColumn.update,
  };
}

/** The column of a table by its number. */
export function columnByNumber({ columns }: CatalogTable, number: number): CatalogColumn | undefined {
  return columns.find((column) => column.number === number);
}
