/** What decides the safety and speed of exposed objects that the API does not depend on, and how it is loaded. */
import { runInSlices } from '../budget/turns.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { parseLists } from '../catalog/lists.ts';
import type { Database } from '../database/database.ts';
import { safetyLists, safetyQuery } from './safety-query.ts';

export interface Safety {
  /** `server_version_num`: 150004. */
  readonly serverVersion: number;
  readonly bypassesRowSecurity: boolean;
  /** Schemas in which the role may create objects, by id. */
  readonly creatable: ReadonlyMap<number, Grantees>;
  readonly tables: ReadonlyMap<number, TableAccess>;
  /** Views that read tables with row level security as a role that bypasses it. */
  readonly viewBypasses: readonly ViewBypass[];
  /** `security definer` functions that the role may execute, by id. */
  readonly definerFunctions: ReadonlyMap<number, DefinerFunction>;
  /** The extensions that functions belong to, by id of the function. */
  readonly extensions: ReadonlyMap<number, string>;
  readonly unindexedKeys: ReadonlySet<number>;
  /** The keys of GIN and GiST indexes on all rows as PostgreSQL deparses them, by id of the table. */
  readonly searchIndexes: ReadonlyMap<number, readonly string[]>;
  /** Comment directives on what none is read from. */
  readonly unreadDirectives: readonly UnreadDirective[];
  /** Rules that make PostgreSQL reject mutations. */
  readonly refusedRules: readonly RefusedRule[];
  /** Columns of views that cannot be written although the view can. */
  readonly computedColumns: readonly ComputedColumn[];
  /** The root table of each partition, by id of the partition. */
  readonly partitionRoots: ReadonlyMap<number, number>;
  /** Names that must be quoted in SQL, in quotes. */
  readonly quotedNames: ReadonlyMap<string, string>;
}

/** The roles through which the role has a privilege, as SQL: itself, roles that it is a member of, `public`. */
export type Grantees = readonly string[];

export type Verb = 'select' | 'insert' | 'update' | 'delete';

export interface TableAccess {
  readonly id: number;
  readonly rowSecurity: boolean;
  /** Whether row level security applies to the owner too (`force`). */
  readonly forced: boolean;
  /** Whether the role is its owner, or a member of its owner. */
  readonly owned: boolean;
  /** What the role may do with the table or some of its columns. */
  readonly verbs: readonly Verb[];
  readonly grantees: Grantees;
  readonly policies: readonly Policy[];
}

export interface Policy {
  readonly name: string;
  readonly command: Verb | 'all';
  /** False if it is restrictive. */
  readonly permissive: boolean;
  readonly applies: boolean;
  readonly using: string | null;
  readonly check: string | null;
}

export interface ViewBypass {
  readonly viewId: number;
  /** The view that bypasses row level security, which may be the same. */
  readonly throughId: number;
  /** Its name as SQL, and whether it is materialized. */
  readonly through: string;
  readonly materialized: boolean;
  readonly owner: string;
  readonly tables: readonly string[];
}

export interface UnreadDirective {
  /** Of what it belongs to. */
  readonly tableId: number;
  readonly object: 'constraint' | 'trigger' | 'policy' | 'index';
  readonly name: string;
}

export interface RefusedRule {
  readonly tableId: number;
  readonly name: string;
  readonly verb: Exclude<Verb, 'select'>;
  /** Whether it runs instead of the statement (`instead`) or in addition (`also`). */
  readonly instead: boolean;
}

export interface ComputedColumn {
  readonly viewId: number;
  readonly name: string;
  /** Whether the view takes inserts and updates that do not name the column. */
  readonly inserts: boolean;
  readonly updates: boolean;
}

export interface DefinerFunction {
  readonly id: number;
  readonly owner: string;
  /** Whether its owner is a superuser or bypasses row level security. */
  readonly ownerBypassesRowSecurity: boolean;
  /** Whether it looks up names in the same way for every caller. */
  readonly fixedSearchPath: boolean;
  readonly grantees: Grantees;
}

/** Loads it for a role, which must exist. */
export async function loadSafety(database: Database, catalog: Catalog, role: string): Promise<Safety> {
  const { schemas, operatorSchemas, tables, functions } = catalog;
  const searched = new Map([...schemas, ...operatorSchemas].map((schema) => [schema.id, schema]));
  const [schemaIds, tableIds, functionIds] = [[...searched.values()], tables, functions].map((objects) => objects.map(({ id }) => id));
  const ids = JSON.stringify({ schemas: schemaIds, tables: tableIds, functions: functionIds });
  const [row] = await database.query(safetyQuery, [role, ids]);
  if (!row) throw new Error('The doctor query returned no row.');
  const raw = await runInSlices(parseLists(safetyLists, row));
  const [server] = raw.server;
  return {
    serverVersion: server?.version ?? 0,
    bypassesRowSecurity: server?.bypasses ?? false,
    creatable: new Map(raw.creatable.map(({ id, grantees }) => [id, grantees])),
    tables: new Map(raw.tables.map((table) => [table.id, table])),
    viewBypasses: raw.viewBypasses,
    definerFunctions: new Map(raw.definerFunctions.map((definer) => [definer.id, definer])),
    extensions: new Map(raw.extensions.map(({ functionId, name }) => [functionId, name])),
    unindexedKeys: new Set(raw.unindexedKeys.map(({ id }) => id)),
    searchIndexes: new Map(
      [...Map.groupBy(raw.searchIndexes, ({ tableId }) => tableId)].map(([id, indexes]) => [id, indexes.flatMap(({ keys }) => keys)]),
    ),
    unreadDirectives: raw.unreadDirectives,
    refusedRules: raw.refusedRules,
    computedColumns: raw.computedColumns,
    partitionRoots: new Map(raw.partitions.map(({ id, rootId }) => [id, rootId])),
    quotedNames: new Map(raw.quotedNames.map(({ name, quoted }) => [name, quoted])),
  };
}
