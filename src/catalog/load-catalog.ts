/** Loads the catalog for all roles: runs the queries for the exposed schemas and assembles their rows. */
import { runInSlices } from '../budget/turns.ts';
import type { RequestDatabase } from '../database/database.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { assembleComposites } from './assemble-composites.ts';
import { assembleTables } from './assemble-tables.ts';
import type {
  Catalog,
  CatalogArgument,
  CatalogForeignKey,
  CatalogFunction,
  CatalogTable,
  CatalogType,
  VectorExtension,
} from './catalog.ts';
import { catalogLists, catalogQuery } from './catalog-query.ts';
import { effectLists, effectsQuery, type RawEffects } from './effects/effects-query.ts';
import { type Effects, findEffects } from './effects/find-effects.ts';
import { type Lists, parseLists } from './lists.ts';
import { loadPlacements, type Placements, withHypertables } from './load-placements.ts';
import { CatalogComments, type RawCatalog, type RawFunction } from './raw-catalog.ts';
import { assembleViews, isView } from './views/infer-views.ts';
import { type RawViews, viewLists, viewQuery } from './views/view-query.ts';

/** The schema of rowgraph's own extension, whose tables and functions are for the server only. */
const ownSchema = 'rowgraph';

/** The SQLSTATEs of a statement in a language that may not be used, or is not there. */
const refusals: ReadonlySet<string | null> = new Set(['42501', '42704']);

/** Loads the catalog of these schemas. `schemas` leaves out those that do not exist, and rowgraph's own. */
export async function loadCatalog(database: RequestDatabase, exposed: readonly string[]): Promise<Catalog> {
  const schemas = exposed.filter((name) => name !== ownSchema);
  const raw = await loadLists(inTurn(database), catalogLists, catalogQuery, [JSON.stringify(schemas)]);
  const viewIds = raw.tables.filter(isView).map(({ id }) => id);
  const views = viewIds.length === 0 ? null : await loadLists(database, viewLists, viewQuery, [JSON.stringify(viewIds)]);
  const effects = await loadLists(database, effectLists, effectsQuery, []);
  const placements = await loadPlacements(database, raw);
  const tables = await withHypertables(database, raw);
  return runInSlices(assembleCatalog({ ...raw, tables }, views, effects, placements, schemas));
}

/** Runs what takes most of the server's time; after a change, all processes send it at once. */
function inTurn(database: RequestDatabase): Pick<RequestDatabase, 'query'> {
  const query: RequestDatabase['query'] = (text, parameters) =>
    database.query(text, parameters, { isHeavy: true }).catch((error: unknown) => {
      // A login that may not use PL/pgSQL cannot wait for its turn.
      if (error instanceof DatabaseError && refusals.has(error.sqlstate)) return database.query(text, parameters);
      throw error;
    });
  return { query };
}

async function loadLists<Raw>(
  database: Pick<RequestDatabase, 'query'>,
  lists: Lists<Raw>,
  query: string,
  parameters: readonly string[],
): Promise<Raw> {
  const [row] = await database.query(query, parameters);
  if (!row) throw new Error('A query for the catalog returned no row.');
  return runInSlices(parseLists(lists, row));
}

function* assembleCatalog(
  raw: RawCatalog,
  rawViews: RawViews | null,
  rawEffects: RawEffects,
  placements: Placements,
  setting: readonly string[],
): Generator<void, Catalog> {
  const comments = new CatalogComments(raw);
  const schemaNames = new Map(raw.schemas.map(({ id, name }) => [id, name]));
  const named = (ids: Iterable<number>) => [...new Set(ids)].map((id) => ({ id, name: schemaNames.get(id) ?? '' }));
  const idOf = new Map(raw.schemas.map(({ id, name }) => [name, id]));
  const types = assembleTypes(raw, comments);
  yield;
  const effects = yield* findEffects(rawEffects);
  const tables = yield* assembleTables(raw, comments, types, effects, placements);
  const { foreignKeys, partitionKeys } = yield* assembleForeignKeys(raw, comments, schemaNames, tables);
  const { views, viewForeignKeys } = yield* assembleViews(rawViews, tables, foreignKeys, comments);
  return {
    encoding: raw.encoding[0]?.name ?? '',
    setting,
    schemas: named(setting.flatMap((name) => idOf.get(name) ?? [])).map((schema) => ({
      ...schema,
      comment: comments.on('schema', schema.id),
    })),
    tables,
    composites: assembleComposites(raw, comments, types),
    foreignKeys,
    partitionKeys,
    views,
    viewForeignKeys,
    viewRelations: new Map(rawViews?.relations.map(({ id, schemaId }) => [id, schemaNames.get(schemaId) ?? ''])),
    types,
    operatorSchemas: named(raw.ownOperators.map(({ schemaId }) => schemaId)),
    postgisSchemaId: raw.postgis[0]?.schemaId ?? null,
    trigrams: raw.trigrams[0] ?? null,
    searchConfigs: raw.searchConfigs.map((config) => ({ ...config, schema: schemaNames.get(config.schemaId) ?? '' })),
    vectorExtension: vectorExtensionOf(raw),
    functions: yield* assembleFunctions(raw, comments, schemaNames, effects, placements),
    mislabelled: effects.mislabelledIn(
      raw.tables.map(({ id }) => id),
      raw.functions.map(({ id }) => id),
    ),
  };
}

function vectorExtensionOf({ vectorExtension, schemas }: RawCatalog): VectorExtension | null {
  const [found] = vectorExtension;
  const schema = schemas.find(({ id }) => id === found?.schemaId);
  if (!found || !schema) return null;
  const [major, minor] = found.version.split('.').map(Number);
  return { schemaId: schema.id, quotedSchema: schema.quotedName, minor: major === 0 ? (minor ?? 0) : Infinity };
}

function* assembleForeignKeys(
  raw: RawCatalog,
  comments: CatalogComments,
  schemaNames: ReadonlyMap<number, string>,
  tables: readonly CatalogTable[],
): Generator<void, Pick<Catalog, 'foreignKeys' | 'partitionKeys'>> {
  const foreignKeys: CatalogForeignKey[] = [];
  const partitionKeys: CatalogForeignKey[] = [];
  const names = new Map([...tables, ...raw.targets].map(({ id, schemaId, name }) => [id, `${schemaNames.get(schemaId)}.${name}`]));
  const tableOfKey = new Map(raw.foreignKeys.map(({ id, tableId }) => [id, tableId]));
  for (const { parentId, ...key } of raw.foreignKeys) {
    // The partitions of the referencing table inherit the foreign key, too, but have it on another table.
    const list = tableOfKey.get(parentId) === key.tableId ? partitionKeys : foreignKeys;
    list.push({ ...key, targetName: names.get(key.targetId) ?? '', comment: comments.on('constraint', key.id) });
    yield;
  }
  return { foreignKeys, partitionKeys };
}

function assembleTypes(raw: RawCatalog, comments: CatalogComments): Map<number, CatalogType> {
  const schemas = new Map(raw.schemas.map((schema) => [schema.id, schema]));
  const exposed = new Set(raw.exposed.map(({ id }) => id));
  const quotedNames = new Map(raw.types.map(({ id, quotedName }) => [id, quotedName]));
  const ownOperators = new Map(raw.ownOperators.map((operator) => [operator.typeId, operator]));
  const arrayOperators = Map.groupBy(raw.arrayOperators, ({ typeId }) => typeId);
  const labels = Map.groupBy(raw.labels, ({ typeId }) => typeId);
  const checks = Map.groupBy(raw.domainChecks, ({ typeId }) => typeId);
  const types = raw.types.map(({ quotedName, shown, base, ...type }): CatalogType => {
    const { id, schemaId, elementId, category, kind } = type;
    const schema = schemas.get(schemaId);
    const baseEnum = category === 'E' ? base : null;
    const isExposedEnum = kind === 'e' && exposed.has(schemaId);
    const operators = [ownOperators.get(id) ?? [], arrayOperators.get(id) ?? []].flat();
    // Qualified, unless it is in pg_catalog, which is always on the search path.
    const qualified = `${schema?.quotedName}.${elementId === 0 ? quotedName : `${quotedNames.get(elementId)}[]`}`;
    return {
      ...type,
      schema: schema?.name ?? '',
      sql: schema?.name === 'pg_catalog' ? shown : qualified,
      enumSql: baseEnum?.[0] ?? null,
      enumSchema: baseEnum && { id: baseEnum[1], name: schemas.get(baseEnum[1])?.name ?? '' },
      baseSql: base?.[0] ?? null,
      baseId: base?.[2] ?? 0,
      checks: (checks.get(id) ?? []).map(({ sql }) => sql),
      operatorSchemaId: ownOperators.get(id)?.schemaId ?? 0,
      operatorIds: operators.map(({ functionId }) => functionId),
      labels: isExposedEnum ? (labels.get(id) ?? []).map(({ label }) => label) : null,
      comment: isExposedEnum || kind === 'd' ? comments.on('type', id) : null,
    };
  });
  return new Map(types.map((type) => [type.id, type]));
}

function* assembleFunctions(
  raw: RawCatalog,
  comments: CatalogComments,
  schemaNames: ReadonlyMap<number, string>,
  effects: Effects,
  { inlined }: Placements,
): Generator<void, CatalogFunction[]> {
  const defaults = new Map(raw.defaults.map(({ functionId, position, sql }) => [`${functionId} ${position}`, sql]));
  const functions: CatalogFunction[] = [];
  for (const { argumentTypes, argumentNames, argumentModes, allTypes: _, defaultCount, ...rest } of raw.functions) {
    const { id, schemaId } = rest;
    functions.push({
      ...rest,
      schema: schemaNames.get(schemaId) ?? '',
      effects: effects.ofCalling(id),
      missesShards: inlined.has(id),
      arguments: toArguments({ id, argumentTypes, argumentNames, argumentModes, defaultCount }, defaults),
      comment: comments.on('function', id),
    });
    yield;
  }
  return functions;
}

/**
 * `pg_proc` has names, modes and defaults for all arguments, but types only for input arguments. Defaults belong to the last input
 * arguments.
 */
function toArguments(
  {
    id,
    argumentTypes,
    argumentNames,
    argumentModes,
    defaultCount,
  }: Pick<RawFunction, 'id' | `argument${'Types' | 'Names' | 'Modes'}` | 'defaultCount'>,
  defaults: ReadonlyMap<string, string | null>,
): CatalogArgument[] {
  const positions = argumentModes?.flatMap((mode, position) => ('ibv'.includes(mode) ? position : [])) ?? [...argumentTypes.keys()];
  return argumentTypes.map((typeId, index) => {
    const position = positions[index] ?? index;
    return {
      name: argumentNames?.[position] ?? '',
      typeId,
      hasDefault: index >= argumentTypes.length - defaultCount,
      defaultSql: defaults.get(`${id} ${position + 1}`) ?? null,
    };
  });
}
