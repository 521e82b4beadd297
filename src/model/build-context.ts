/**
 * What `build-model.ts` works on: the tables that the role sees, and what all steps need.
 * Nothing of this leaves the folder; outside, a `Model` is read-only.
 */
import type { Catalog, CatalogColumn, CatalogTable, ColumnPrivileges, Privileges } from '../catalog/catalog.ts';
import type { CatalogLinks } from './catalog-links.ts';
import type { Directive } from './directives.ts';
import type { LazyTable } from './lazy-table.ts';
import type { EnumType, Exclusion, Renaming, ValueType } from './model.ts';
import type { ModelSettings } from './model-settings.ts';
import type { KnownFacts } from './table-facts.ts';

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

/** What a step reports beside what it builds. */
export interface Notes {
  readonly exclusions: Exclusion[];
  readonly renamings: Renaming[];
}

/** Notes that nobody has taken yet, or nobody wants. */
export function emptyNotes(): Notes {
  return { exclusions: [], renamings: [] };
}

/** What is needed as long as the model is used: tables are built when they are first read. */
export interface BuildContext {
  readonly settings: { readonly [Name in keyof ModelSettings]-?: Exclude<ModelSettings[Name], undefined> };
  readonly catalog: Catalog;
  readonly privileges: Privileges;
  readonly links: CatalogLinks;
  /** What other roles have found; null where the reasons of this one are wanted. */
  readonly facts: KnownFacts | null;
  /** By id. */
  readonly schemas: ReadonlyMap<number, SchemaSettings>;
  /** The tables that the role sees, by id, and those of which it sees only rows. */
  readonly tables: Map<number, LazyTable>;
  readonly enums: Map<number, EnumType>;
  /** What `value-types.ts` has built so far, so that columns of the same type share it. */
  readonly valueTypes: Map<number, ValueType>;
}

/** The table with this id, if it is in a schema that the role may use. */
export function sourceOf({ links, schemas }: BuildContext, id: number): CatalogTable | undefined {
  const source = links.tables.get(id);
  return source && schemas.has(source.schemaId) ? source : undefined;
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
