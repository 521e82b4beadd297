/** Facts about a table that do not depend on other tables, shared by all roles with the same privileges on it. */
import type { Catalog, CatalogColumn, CatalogTable, Privileges, TablePrivileges } from '../catalog/catalog.ts';
import type { Additions } from './additions.ts';
import type { SchemaSettings } from './build-context.ts';
import type { Directive } from './directives.ts';
import type { Excluded } from './excluded.ts';
import type { Table } from './model.ts';
import type { PreferredName } from './preferred-name.ts';

export interface TableFacts
  extends Pick<
    Table,
    | 'kind'
    | 'description'
    | 'keyIsUnique'
    | 'keyIsProven'
    | 'keepsNotNull'
    | 'insertsEveryRow'
    | 'insertsFirst'
    | 'rowSecurity'
    | 'roleIndependent'
    | 'readEffects'
    | 'writeEffects'
    | 'maxRows'
    | 'totalCount'
    | 'aggregate'
    | 'selectable'
    | 'insertable'
    | 'updatable'
    | 'deletable'
    | 'additions'
  > {
  readonly source: CatalogTable;
  readonly schema: SchemaSettings;
  readonly directive: Directive;
  /** The default name of its row type, and where it comes from. */
  readonly plainName: PreferredName;
  /** Key columns in order; null for a table without a key, which only has a row type. */
  readonly key: readonly CatalogColumn[] | null;
}

/** The facts with the key or why there is none; or why the table is left out. */
export type FoundTable = (Omit<TableFacts, 'key'> & { readonly key: TableFacts['key'] | Excluded }) | Excluded;

/** Facts found for earlier roles, for one catalog and one setting of additions. */
export class KnownFacts {
  readonly #known = new Map<CatalogTable, Map<TablePrivileges, FoundTable>>();

  /**
   * The facts of a table under these privileges, found by `find` if unknown. With column grants they are not cached, because other roles
   * rarely have the same ones.
   */
  of(table: CatalogTable, { tables }: Privileges, find: () => FoundTable): FoundTable {
    const granted = tables.get(table.id);
    if (granted === undefined || granted.columns.size > 0) return find();
    const known = this.#known.get(table) ?? new Map<TablePrivileges, FoundTable>();
    this.#known.set(table, known);
    const found = known.get(granted) ?? find();
    known.set(granted, found);
    return found;
  }
}

const ofCatalogs = new WeakMap<Catalog, Map<Additions, KnownFacts>>();

export function factsOfCatalog(catalog: Catalog, additions: Additions): KnownFacts {
  const known = ofCatalogs.get(catalog) ?? new Map<Additions, KnownFacts>();
  ofCatalogs.set(catalog, known);
  const facts = known.get(additions) ?? new KnownFacts();
  known.set(additions, facts);
  return facts;
}
