/** The shared state of the steps that build a model. It never leaves this folder, and the finished `Model` is read-only. */
import type { Catalog, CatalogColumn, CatalogFunction, CatalogTable, CatalogType } from '../catalog/catalog.ts';
import type { ColumnPrivileges, Privileges } from '../catalog/privileges.ts';
import type { Additions, ModelSettings } from './additions.ts';
import type { Directive } from './directives.ts';
import type { ColumnShape } from './model.ts';
import type { CatalogLinks } from './relations/foreign-keys.ts';
import type { Exclusion, ExclusionCause, LackingPrivilege, Renaming } from './report.ts';
import type { Overload } from './routines/overloads.ts';
import type { CompositeUse } from './tables/build-composites.ts';
import type { LazyTable, SharedTraits } from './tables/lazy-table.ts';
import type { DomainType, EnumType, ValueType } from './value-type.ts';

/** An exposed schema that the role may use, with the settings in its comment directive. */
export interface SchemaSettings {
  readonly id: number;
  readonly name: string;
  readonly inflection: boolean;
  readonly maxRows: number;
  readonly maxDepth: number;
  readonly introspection: boolean;
  readonly directive: Directive;
  readonly additions: Additions;
}

/** A part of the model while it is being built. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** What a step reports besides its result. */
export interface Notes {
  readonly exclusions: Exclusion[];
  readonly renamings: Renaming[];
}

export function emptyNotes(): Notes {
  return { exclusions: [], renamings: [] };
}

/** Lives as long as the model, because tables are built on first use. */
export interface BuildContext {
  readonly settings: { readonly [Name in keyof ModelSettings]-?: Exclude<ModelSettings[Name], undefined> };
  readonly catalog: Catalog;
  readonly privileges: Privileges;
  readonly links: CatalogLinks;
  /** Traits already found for other roles that can name all types; null to find them again, with this role's reasons. */
  readonly traits: SharedTraits | null;
  /** By id. */
  readonly schemas: ReadonlyMap<number, SchemaSettings>;
  /** The tables that the role sees, by id, including those that only have a row type. */
  readonly tables: Map<number, LazyTable>;
  /** The tables that the role only inserts into: nothing else leads to them. */
  readonly insertOnly: LazyTable[];
  readonly enums: Map<number, EnumType>;
  /**
   * The composite types that the role sees, by the id of their relation, and what functions return that have several columns, by
   * `resultId`. They have only a row type.
   */
  readonly composites: Map<number, LazyTable>;
  /** The tables whose rows are values of columns, attributes or arguments, and what leads to inputs and filters of these. */
  readonly rowUses: Map<LazyTable, CompositeUse>;
  /** Those of the catalog, by the ids of their relations: which of them the role sees is only known behind its tables. */
  readonly compositeIds: ReadonlySet<number>;
  /** The shapes of JSON columns, by the id of their table or composite type and their number; and the tables of all shapes, inner ones first. */
  readonly shapes: Map<number, Map<number, ColumnShape>>;
  readonly shapeTables: Map<LazyTable, CompositeUse>;
  /** The domains with a scalar of their own, by id. */
  readonly domains: Map<number, DomainType>;
  /** Functions with namesakes, by id. */
  readonly overloads: ReadonlyMap<number, Overload>;
  /** Value types built so far, by type id, so that columns of the same type share them. */
  readonly valueTypes: Map<number, ValueType>;
}

/** The id of what a function with several columns returns, among the composites of the catalog and of the context. */
export function resultId({ id }: Pick<CatalogFunction, 'id'>): number {
  return -id;
}

/** Whether it is what a function returns, and no type. */
export function isResult({ id }: Pick<CatalogTable, 'id'>): boolean {
  return id < 0;
}

/** The composite type that a type is, has as elements, or, with the addition, is a domain over; undefined if there is none. */
export function compositeTypeIn(context: Pick<BuildContext, 'catalog' | 'settings'>, typeId: number): CatalogType | undefined {
  const type = context.catalog.types.get(typeId);
  if (type?.kind === 'c') return type;
  const inner = type?.elementId || (context.settings.additions.has('domains') ? type?.baseId : 0) || 0;
  return inner === 0 ? undefined : compositeTypeIn(context, inner);
}

/** The table with this id, if it is in a schema that the role may use. */
export function reachableTable({ links, schemas }: BuildContext, id: number): CatalogTable | undefined {
  const table = links.tables.get(id);
  return table && schemas.has(table.schemaId) ? table : undefined;
}

const noPrivileges: ColumnPrivileges = { select: false, insert: false, update: false };
/** Whoever may read a value of a composite type may read its attributes. */
const ofComposites: ColumnPrivileges = { select: true, insert: true, update: true };

/** The role's privileges on a column: those on its table plus those on the column itself. */
export function privilegesOn(
  { privileges }: Pick<BuildContext, 'privileges'>,
  table: CatalogTable,
  column: CatalogColumn,
): ColumnPrivileges {
  if (table.kind === 'c') return ofComposites;
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

export function columnByNumber({ columns }: CatalogTable, number: number): CatalogColumn | undefined {
  return columns.find((column) => column.number === number);
}

/** The result of a step that leaves an object out of the model, with the reason. */
export class Excluded implements Pick<Exclusion, 'cause' | 'reason' | 'lacking'> {
  readonly cause: ExclusionCause;
  readonly reason: string;
  readonly lacking: LackingPrivilege | null;

  constructor(cause: ExclusionCause, reason: string, lacking: LackingPrivilege | null = null) {
    this.cause = cause;
    this.reason = reason;
    this.lacking = lacking;
  }
}

export function notGranted(reason: string, privilege: LackingPrivilege['privilege'], id: number, column: string | null = null): Excluded {
  return new Excluded('not-granted', reason, { privilege, id, column });
}
