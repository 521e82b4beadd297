/** Loads the doctor's facts: runs its query for the objects of a catalog, and names the members of the result. */
import type { Catalog } from '../catalog/catalog.ts';
import type { Database } from '../database/database.ts';
import type { ComputedColumn, DefinerFunction, Facts, Grantees, Policy, RefusedRule, TableAccess, Verb, ViewBypass } from './facts.ts';
import { factsQuery } from './facts-query.ts';

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
