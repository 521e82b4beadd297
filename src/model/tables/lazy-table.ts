/**
 * A table whose columns, relations and computed fields are built on first use, because a request needs only a few of thousands of tables.
 * `TableTraits`, which do not depend on other tables, are shared by all roles with the same privileges on the table.
 */
import type { Catalog, CatalogColumn, CatalogTable } from '../../catalog/catalog.ts';
import type { Privileges, TablePrivileges } from '../../catalog/privileges.ts';
import type { Additions } from '../additions.ts';
import type { Excluded, SchemaSettings } from '../build-context.ts';
import type { Directive } from '../directives.ts';
import type { Arbiter, Column, CompositeParts, Lineage, Relation, Table, TableSearch } from '../model.ts';
import type { TableNames } from '../naming/claimed-names.ts';
import type { PreferredName } from '../naming/names.ts';
import type { Routine } from '../routine.ts';
import type { SearchedColumns } from './build-search.ts';

export type TableParts = Pick<
  Table,
  'columns' | 'primaryKey' | 'uniqueKeys' | 'search' | 'arbiters' | 'relations' | 'lineages' | 'computed'
>;

export interface TableBuilder {
  buildParts(table: LazyTable): TableParts;
  findReferrers(table: LazyTable): readonly Table[];
  hasLookup(table: LazyTable): boolean;
}

/** The members of a table that depend on no other table. */
const shared = [
  ...([
    'kind',
    'description',
    'keyIsUnique',
    'keyIsProven',
    'keyTakesNulls',
    'keepsNotNull',
    'insertsEveryRow',
    'insertsFirst',
    'rowSecurity',
  ] as const),
  ...(['roleIndependent', 'readEffects', 'writeEffects', 'placement', 'maxRows', 'liveRefresh', 'totalCount'] as const),
  ...(['aggregate', 'additions'] as const),
  ...(['selectable', 'insertable', 'updatable', 'deletable', 'isSearchable'] as const),
] as const satisfies readonly (keyof Table)[];
type Shared = Pick<Table, (typeof shared)[number]>;

export interface TableTraits extends Shared {
  readonly catalogTable: CatalogTable;
  readonly schema: SchemaSettings;
  readonly directive: Directive;
  /** The default name of its row type, and where it comes from. */
  readonly plainName: PreferredName;
  readonly searched: SearchedColumns | null;
  /** Key columns in order; null for a table without a key, which only has a row type. */
  readonly key: readonly CatalogColumn[] | null;
}

/** A table reads these members from its traits, because the tables of many roles share them. */
class TableWithTraits {
  readonly traits: TableTraits;

  constructor(traits: TableTraits) {
    this.traits = traits;
  }
}
for (const name of shared) {
  Object.defineProperty(TableWithTraits.prototype, name, {
    get(this: TableWithTraits) {
      return this.traits[name];
    },
  });
}

const noneRenamed: TableNames['renamedTypes'] = new Map();

export class LazyTable extends (TableWithTraits as new (traits: TableTraits) => TableWithTraits & Shared) implements Table {
  readonly #builder: TableBuilder;
  #parts: TableParts | null = null;
  #referrers: readonly Table[] | null = null;
  typeName: string;
  stem: string;
  renamedTypes = noneRenamed;
  composite: CompositeParts | null = null;

  constructor(traits: TableTraits, builder: TableBuilder) {
    super(traits);
    this.#builder = builder;
    this.typeName = traits.plainName.name;
    this.stem = traits.plainName.name;
  }

  get id(): number {
    return this.traits.catalogTable.id;
  }

  get schema(): string {
    return this.traits.schema.name;
  }

  get name(): string {
    return this.traits.catalogTable.name;
  }

  get introspection(): boolean {
    return this.traits.schema.introspection;
  }

  /** Found without building the table, because listing the fields of Query asks every table. */
  get hasLookup(): boolean {
    return this.#builder.hasLookup(this);
  }

  get referrers(): readonly Table[] {
    this.#referrers ??= this.#builder.findReferrers(this);
    return this.#referrers;
  }

  get columns(): readonly Column[] {
    return this.#built.columns;
  }

  get primaryKey(): readonly Column[] {
    return this.#built.primaryKey;
  }

  get uniqueKeys(): Table['uniqueKeys'] {
    return this.#built.uniqueKeys;
  }

  get search(): TableSearch | null {
    return this.#built.search;
  }

  get arbiters(): readonly Arbiter[] {
    return this.#built.arbiters;
  }

  get relations(): readonly Relation[] {
    return this.#built.relations;
  }

  get lineages(): readonly Lineage[] {
    return this.#built.lineages;
  }

  get computed(): readonly Routine[] {
    return this.#built.computed;
  }

  get #built(): TableParts {
    this.#parts ??= this.#builder.buildParts(this);
    return this.#parts;
  }
}

/** The traits with the key or why there is none; or why the table is left out. */
export type FoundTable = (Omit<TableTraits, 'key'> & { readonly key: TableTraits['key'] | Excluded }) | Excluded;

/** Traits found for earlier roles, for one catalog and one setting of additions. */
export class SharedTraits {
  readonly #cached = new Map<CatalogTable, Map<TablePrivileges, FoundTable>>();

  /**
   * The traits of a table under these privileges, found by `find` if unknown. With column grants they are not cached, because other roles
   * rarely have the same ones.
   */
  of(table: CatalogTable, { tables }: Privileges, find: () => FoundTable): FoundTable {
    const granted = tables.get(table.id);
    if (granted === undefined || granted.columns.size > 0) return find();
    const cached = this.#cached.get(table) ?? new Map<TablePrivileges, FoundTable>();
    this.#cached.set(table, cached);
    const found = cached.get(granted) ?? find();
    cached.set(granted, found);
    return found;
  }
}

const ofCatalogs = new WeakMap<Catalog, Map<Additions, SharedTraits>>();

export function traitsOfCatalog(catalog: Catalog, additions: Additions): SharedTraits {
  const cached = ofCatalogs.get(catalog) ?? new Map<Additions, SharedTraits>();
  ofCatalogs.set(catalog, cached);
  const traits = cached.get(additions) ?? new SharedTraits();
  cached.set(additions, traits);
  return traits;
}
