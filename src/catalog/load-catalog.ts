/**
 * Loads the catalog: runs the introspection query for the exposed schemas, gives its rows their names and puts them together. Once for
 * all roles.
 */

import { runInSlices } from '../budget/slices.ts';
import type { Database } from '../database/database.ts';
import { assembleFunctions } from './assemble-functions.ts';
import { assembleTables } from './assemble-tables.ts';
import { assembleTypes } from './assemble-types.ts';
import type { Catalog, CatalogForeignKey, CatalogSchema, CatalogTable } from './catalog.ts';
import { CatalogComments } from './catalog-comments.ts';
import { catalogQuery } from './catalog-query.ts';
import type { RawCatalog } from './raw-catalog.ts';

/** Loads what PostgreSQL says about these schemas. A schema that does not exist is left out of `schemas`. */
export async function loadCatalog(database: Database, schemas: readonly string[]): Promise<Catalog> {
  const [row] = await database.query(catalogQuery, [JSON.stringify(schemas)]);
  if (!row?.[0]) throw new Error('The catalog query returned no row.');
  return runInSlices(assembleCatalog(JSON.parse(row[0]) as RawCatalog, schemas));
}

function* assembleCatalog(raw: RawCatalog, schemas: readonly string[]): Generator<void, Catalog> {
  const comments = new CatalogComments(raw);
  const schemaNames = new Map((raw.schemas ?? []).map(([id, name]) => [id, name]));
  const types = assembleTypes(raw, comments);
  yield;
  const tables = yield* assembleTables(raw, comments, types);
  return {
    setting: schemas,
    schemas: assembleSchemas(raw, comments, schemas),
    tables,
    foreignKeys: assembleForeignKeys(raw, comments, schemaNames, tables),
    types,
    functions: assembleFunctions(raw, comments, schemaNames),
  };
}

/** The exposed schemas in the order of the setting, each once. */
function assembleSchemas(raw: RawCatalog, comments: CatalogComments, setting: readonly string[]): CatalogSchema[] {
  const ids = new Map((raw.schemas ?? []).map(([id, name]) => [name, id]));
  return [...new Set(setting)].flatMap((name) => {
    const id = ids.get(name);
    return id === undefined ? [] : { id, name, comment: comments.on('schema', id) };
  });
}

function assembleForeignKeys(
  raw: RawCatalog,
  comments: CatalogComments,
  schemaNames: ReadonlyMap<number, string>,
  tables: readonly CatalogTable[],
): CatalogForeignKey[] {
  const keys = raw.foreignKeys ?? [];
  const names = new Map<number, string>();
  for (const { id, schemaId, name } of tables) names.set(id, `${schemaNames.get(schemaId)}.${name}`);
  for (const [id, schemaId, name] of raw.targets ?? []) names.set(id, `${schemaNames.get(schemaId)}.${name}`);
  const tableOfKey = new Map(keys.map(([id, , tableId]) => [id, tableId]));
  return keys.flatMap(([id, name, tableId, columns, targetId, targetColumns, validated, parentId]) => {
    // A key to a partitioned table has a copy for each partition, which says nothing of its own.
    if (tableOfKey.get(parentId) === tableId) return [];
    const targetName = names.get(targetId) ?? '';
    return { id, name, tableId, columns, targetId, targetColumns, targetName, validated, comment: comments.on('constraint', id) };
  });
}
