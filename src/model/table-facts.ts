/**
 * What is known of a table whatever else a role sees: shared by all roles with the same privileges on the table.
 */
import type { Catalog, CatalogColumn, CatalogTable, Privileges, TablePrivileges } from '../catalog/catalog.ts';
import type { Additions } from './additions.ts';
import type { SchemaSettings } from './build-context.ts';
import type { Directive } from './directives.ts';
import type { Excluded } from './excluded.ts';
import type { Table } from './model.ts';

/** What a table is for all roles with the same privileges on it. */
export interface TableFacts
  extends Pick<
    Table,
    | 'kind'
    | 'description'
    | 'keyIsUnique'
    | 'keepsNotNull'
    | 'insertsEveryRow'
    | 'rowSecurity'
    | 'roleIndependent'
    | 'maxRows'
    | 'totalCount'
    | 'aggregate'
    | 'insertable'
    | 'updatable'
    | 'deletable'
    | 'additions'
  > {
  readonly source: CatalogTable;
  readonly schema: SchemaSettings;
  readonly directive: Directive;
  /** The name of its row type, unless that is taken. */
  readonly plainName: string;
  /** The key columns, in their order; null for a table without a key, which has only a row type. */
  readonly key: readonly CatalogColumn[] | null;
}

/** What a table is, with its key or why it has none; or why it is left out. */
export type FoundTable = (Omit<TableFacts, 'key'> & { readonly key: TableFacts['key'] | Excluded }) | Excluded;

/** What was found for the roles before, of one catalog under one setting of additions. */
export class KnownFacts {
  readonly #known = new Map<CatalogTable, Map<TablePrivileges, FoundTable>>();

  /** What is known of a table under these privileges; `find` finds it if it is not. Grants on single columns are hardly ever those of another role. */
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

/** The facts of a catalog under a setting of additions. */
export function factsOfCatalog(catalog: Catalog, additions: Additions): KnownFacts {
  const known = ofCatalogs.get(catalog) ?? new Map<Additions, KnownFacts>();
  ofCatalogs.set(catalog, known);
  const facts = known.get(additions) ?? new KnownFacts();
  known.set(additions, facts);
  return facts;
}
