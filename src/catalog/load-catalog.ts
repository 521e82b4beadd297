/** Loads the catalog for all roles: runs the introspection query for the exposed schemas and assembles its rows. */

import { runInSlices } from '../budget/turns.ts';
import type { RequestDatabase } from '../database/database.ts';
import { assembleFunctions } from './assemble-functions.ts';
import { assembleTables } from './assemble-tables.ts';
import { assembleTypes } from './assemble-types.ts';
import type { Catalog, CatalogForeignKey, CatalogSchema, CatalogTable } from './catalog.ts';
import { CatalogComments } from './catalog-comments.ts';
import { catalogQuery, listNames } from './catalog-query.ts';
import { findEffects } from './effects/find-effects.ts';
import { loadRawEffects } from './effects/load-effects.ts';
import type { RawEffects } from './effects/raw-effects.ts';
import { parseLists } from './parse-rows.ts';
import type { RawCatalog } from './raw-catalog.ts';
import { assembleViews, loadRawViews } from './views/load-views.ts';
import type { RawViews } from './views/raw-views.ts';

/** The schema of rowgraph's own extension, whose tables and functions are for the server only. */
const ownSchema = 'rowgraph';

/** Loads the catalog of these schemas. `schemas` leaves out those that do not exist, and rowgraph's own. */
export async function loadCatalog(database: RequestDatabase, exposed: readonly string[]): Promise<Catalog> {
  const schemas = exposed.filter((name) => name !== ownSchema);
  const [row] = await database.query(catalogQuery, [JSON.stringify(schemas)]);
  if (!row) throw new Error('The catalog query returned no row.');
  const raw = await runInSlices(parseLists<RawCatalog>(listNames, row));
  const views = await loadRawViews(
    database,
    raw.tables.map(([id, , , kind]) => ({ id, kind })),
  );
  const effects = await loadRawEffects(database);
  return runInSlices(assembleCatalog(raw, views, effects, schemas));
}

function* assembleCatalog(
  raw: RawCatalog,
  rawViews: RawViews | null,
  rawEffects: RawEffects,
  schemas: readonly string[],
): Generator<void, Catalog> {
  const comments = new CatalogComments(raw);
  const schemaNames = new Map(raw.schemas.map(([id, name]) => [id, name]));
  const types = assembleTypes(raw, comments);
  yield;
  const effects = yield* findEffects(rawEffects);
  const tables = yield* assembleTables(raw, comments, types, effects);
  const { foreignKeys, partitionKeys } = yield* assembleForeignKeys(raw, comments, schemaNames, tables);
  const { views, viewForeignKeys } = yield* assembleViews(rawViews, tables, foreignKeys, comments);
  return {
    encoding: raw.encoding[0]?.[0] ?? '',
    setting: schemas,
    schemas: assembleSchemas(raw, comments, schemas),
    tables,
    foreignKeys,
    partitionKeys,
    views,
    viewForeignKeys,
    viewSources: new Map(rawViews?.relations?.map(([id, , , schemaId]) => [id, schemaNames.get(schemaId) ?? ''])),
    types,
    operatorSchemas: assembleOperatorSchemas(raw, schemaNames),
    functions: yield* assembleFunctions(raw, comments, schemaNames, effects),
    mislabelled: effects.mislabelledIn(
      raw.tables.map(([id]) => id),
      raw.functions.map(([id]) => id),
    ),
  };
}

/** The exposed schemas in the order of the setting, without duplicates. */
function assembleSchemas(raw: RawCatalog, comments: CatalogComments, setting: readonly string[]): CatalogSchema[] {
  const ids = new Map(raw.schemas.map(([id, name]) => [name, id]));
  return [...new Set(setting)].flatMap((name) => {
    const id = ids.get(name);
    return id === undefined ? [] : { id, name, comment: comments.on('schema', id) };
  });
}

function assembleOperatorSchemas(raw: RawCatalog, schemaNames: ReadonlyMap<number, string>): Catalog['operatorSchemas'] {
  const ids = new Set(raw.ownOperators.map(([, schemaId]) => schemaId));
  return [...ids].flatMap((id) => {
    const name = schemaNames.get(id);
    return name === undefined ? [] : { id, name };
  });
}

function* assembleForeignKeys(
  raw: RawCatalog,
  comments: CatalogComments,
  schemaNames: ReadonlyMap<number, string>,
  tables: readonly CatalogTable[],
): Generator<void, Pick<Catalog, 'foreignKeys' | 'partitionKeys'>> {
  const { foreignKeys: keys } = raw;
  const foreignKeys: CatalogForeignKey[] = [];
  const partitionKeys: CatalogForeignKey[] = [];
  const names = new Map<number, string>();
  for (const { id, schemaId, name } of tables) names.set(id, `${schemaNames.get(schemaId)}.${name}`);
  for (const [id, schemaId, name] of raw.targets) names.set(id, `${schemaNames.get(schemaId)}.${name}`);
  const tableOfKey = new Map(keys.map(([id, , tableId]) => [id, tableId]));
  for (const [id, name, tableId, columns, targetId, targetColumns, validated, parentId] of keys) {
    const targetName = names.get(targetId) ?? '';
    const comment = comments.on('constraint', id);
    // The partitions of the referencing table inherit the foreign key, too, but have it on another table.
    const list = tableOfKey.get(parentId) === tableId ? partitionKeys : foreignKeys;
    list.push({ id, name, tableId, columns, targetId, targetColumns, targetName, validated, comment });
    yield;
  }
  return { foreignKeys, partitionKeys };
}
