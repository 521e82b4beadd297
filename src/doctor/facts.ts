/**
 * Facts about the safety and speed of exposed objects that the API does not depend on: ownership, policies, grantees, indexes. Ids are
 * oids.
 */
import type { Catalog } from '../catalog/catalog.ts';
import type { Database } from '../database/database.ts';
import { factsQuery } from './facts-query.ts';

export interface Facts {
  /** `server_version_num`: 150004. */
  readonly serverVersion: number;
  /** Whether the role is a superuser or bypasses row level security. */
  readonly bypassesRowSecurity: boolean;
  /** Schemas in which the role may create objects, by id. */
  readonly creatable: ReadonlyMap<number, Grantees>;
  /** Every exposed table, by id. */
  readonly tables: ReadonlyMap<number, TableAccess>;
  /** Views that read tables with row level security as a role that bypasses it. */
  readonly viewBypasses: readonly ViewBypass[];
  /** `security definer` functions that the role may execute, by id. */
  readonly definerFunctions: ReadonlyMap<number, DefinerFunction>;
  /** The extensions that functions belong to, by id of the function. */
  readonly extensions: ReadonlyMap<number, string>;
  /** Ids of foreign keys without an index. */
  readonly unindexedKeys: ReadonlySet<number>;
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
  /** Whether it applies to the role. */
  readonly applies: boolean;
  /** The conditions as SQL. */
  readonly using: string | null;
  readonly check: string | null;
}

export interface ViewBypass {
  readonly viewId: number;
  /** The view that bypasses row level security, which may be the same. Its name is SQL. */
  readonly through: { readonly id: number; readonly name: string; readonly materialized: boolean };
  /** The role whose privileges it reads with. */
  readonly owner: string;
  /** The qualified names of the tables. */
  readonly tables: readonly string[];
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
  readonly owner: string;
  /** Whether its owner is a superuser or bypasses row level security. */
  readonly ownerBypassesRowSecurity: boolean;
  /** Whether it looks up names in the same way for every caller. */
  readonly fixedSearchPath: boolean;
  readonly grantees: Grantees;
}

/** The result of the query. Members are null if empty; rows are arrays, whose members the functions below name. */
interface RawFacts {
  readonly serverVersion: number;
  readonly bypasses: boolean | null;
  readonly creatable: readonly [id: number, grantees: Grantees | null][] | null;
  readonly tables: readonly RawTableAccess[] | null;
  readonly viewBypasses: readonly RawBypass[] | null;
  readonly definerFunctions: readonly RawFunctionFacts[] | null;
  readonly extensions: readonly [functionId: number, name: string][] | null;
  readonly unindexedKeys: readonly number[] | null;
  readonly refusedRules: readonly RawRule[] | null;
  readonly computedColumns: readonly RawComputedColumn[] | null;
  readonly partitions: readonly [id: number, rootId: number][] | null;
  readonly quotedNames: readonly [name: string, quoted: string][] | null;
}

type RawTableAccess = [
  id: number,
  rowSecurity: boolean,
  forced: boolean,
  owned: boolean,
  maySelect: boolean,
  mayInsert: boolean,
  mayUpdate: boolean,
  mayDelete: boolean,
  grantees: Grantees | null,
  policies: readonly RawPolicy[] | null,
];
type RawPolicy = [
  name: string,
  command: keyof typeof commands,
  permissive: boolean,
  applies: boolean,
  using: string | null,
  check: string | null,
];
type RawBypass = [viewId: number, throughId: number, name: string, materialized: boolean, owner: string, tables: readonly string[]];
type RawRule = [tableId: number, name: string, event: keyof typeof events, instead: boolean];
type RawComputedColumn = [viewId: number, name: string, inserts: boolean, updates: boolean];
type RawFunctionFacts = [id: number, owner: string, ownerBypasses: boolean, fixedSearchPath: boolean, grantees: Grantees | null];

/** `pg_policy.polcmd`. */
const commands = { r: 'select', a: 'insert', w: 'update', d: 'delete', '*': 'all' } as const;
/** `pg_rewrite.ev_type`. */
const events = { 2: 'update', 3: 'insert', 4: 'delete' } as const;

/** Loads the facts about a role, which must exist. */
export async function loadFacts(database: Database, catalog: Catalog, role: string): Promise<Facts> {
  const { schemas, operatorSchemas, tables, functions } = catalog;
  const searched = new Map([...schemas, ...operatorSchemas].map((schema) => [schema.id, schema]));
  const [schemaIds, tableIds, functionIds] = [[...searched.values()], tables, functions].map((objects) => objects.map(({ id }) => id));
  const ids = JSON.stringify({ schemas: schemaIds, tables: tableIds, functions: functionIds });
  const [row] = await database.query(factsQuery, [role, ids]);
  if (!row?.[0]) throw new Error('The doctor query returned no row.');
  const raw = JSON.parse(row[0]) as RawFacts;
  return {
    serverVersion: raw.serverVersion,
    bypassesRowSecurity: raw.bypasses ?? false,
    creatable: new Map((raw.creatable ?? []).map(([id, grantees]) => [id, grantees ?? []])),
    tables: new Map((raw.tables ?? []).map((table) => [table[0], toTable(table)])),
    viewBypasses: (raw.viewBypasses ?? []).map(toBypass),
    definerFunctions: new Map((raw.definerFunctions ?? []).map((source) => [source[0], toFunction(source)])),
    extensions: new Map(raw.extensions),
    unindexedKeys: new Set(raw.unindexedKeys),
    refusedRules: (raw.refusedRules ?? []).map(toRule),
    computedColumns: (raw.computedColumns ?? []).map(toComputedColumn),
    partitionRoots: new Map(raw.partitions),
    quotedNames: new Map(raw.quotedNames),
  };
}

function toTable([, rowSecurity, forced, owned, ...rest]: RawTableAccess): TableAccess {
  const [maySelect, mayInsert, mayUpdate, mayDelete, grantees, policies] = rest;
  const may: Record<Verb, boolean> = { select: maySelect, insert: mayInsert, update: mayUpdate, delete: mayDelete };
  const verbs = (['select', 'insert', 'update', 'delete'] as const).filter((verb) => may[verb]);
  return { rowSecurity, forced, owned, verbs, grantees: grantees ?? [], policies: (policies ?? []).map(toPolicy) };
}

function toPolicy([name, command, permissive, applies, using, check]: RawPolicy): Policy {
  return { name, command: commands[command], permissive, applies, using, check };
}

function toBypass([viewId, id, name, materialized, owner, tables]: RawBypass): ViewBypass {
  return { viewId, through: { id, name, materialized }, owner, tables };
}

function toRule([tableId, name, event, instead]: RawRule): RefusedRule {
  return { tableId, name, verb: events[event], instead };
}

function toComputedColumn([viewId, name, inserts, updates]: RawComputedColumn): ComputedColumn {
  return { viewId, name, inserts, updates };
}

function toFunction([, owner, ownerBypassesRowSecurity, fixedSearchPath, grantees]: RawFunctionFacts): DefinerFunction {
  return { owner, ownerBypassesRowSecurity, fixedSearchPath, grantees: grantees ?? [] };
}
