/** Loads what decides the safety and speed of exposed objects that the API does not depend on. */
import { runInSlices } from '../budget/turns.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { parseLists } from '../catalog/lists.ts';
import type { Database } from '../database/database.ts';
import type { Safety } from './safety.ts';
import { safetyLists, safetyQuery } from './safety-query.ts';

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
    refusedRules: raw.refusedRules,
    computedColumns: raw.computedColumns,
    partitionRoots: new Map(raw.partitions.map(({ id, rootId }) => [id, rootId])),
    quotedNames: new Map(raw.quotedNames.map(({ name, quoted }) => [name, quoted])),
  };
}
