/** Loads the catalog for all roles: runs the introspection query for the exposed schemas and assembles its rows. */
import { runInSlices } from '../budget/turns.ts';
import type { RequestDatabase } from '../database/database.ts';
import { assembleTables } from './assemble-tables.ts';
import type { Catalog, CatalogArgument, CatalogForeignKey, CatalogFunction, CatalogSchema, CatalogTable, CatalogType } from './catalog.ts';
import { catalogQuery, listNames } from './catalog-query.ts';
import { loadRawEffects, type RawEffects } from './effects/effects-query.ts';
import { type Effects, findEffects } from './effects/find-effects.ts';
import { type CommentedKind, parseLists, type RawCatalog, type RawFunction, type RawType } from './raw-rows.ts';
import { assembleViews, loadRawViews } from './views/infer-views.ts';
import type { RawViews } from './views/view-query.ts';

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

/** Assembles the types, keyed by id. */
export function assembleTypes(raw: RawCatalog, comments: CatalogComments): Map<number, CatalogType> {
  const schemas = new Map(raw.schemas.map(([id, name, quotedName]) => [id, { name, quotedName }]));
  const exposed = new Set(raw.setting);
  const quotedNames = new Map(raw.types.map(([id, , , quotedName]) => [id, quotedName]));
  const ownOperators = new Map(raw.ownOperators.map(([typeId, schemaId, functionId]) => [typeId, { schemaId, functionId }]));
  const arrayOperators = Map.groupBy(raw.arrayOperators, ([typeId]) => typeId);
  const labels = Map.groupBy(raw.labels, ([typeId]) => typeId);
  const types = raw.types.map((type): CatalogType => {
    const [id, schemaId, name, , kind, category, elementId, relationId, , base, oddlyOrdered, unordered, delimiter] = type;
    const schema = schemas.get(schemaId) ?? { name: '', quotedName: '' };
    const baseEnum = category === 'E' ? base : null;
    const isExposedEnum = kind === 'e' && exposed.has(schemaId);
    return {
      id,
      schemaId,
      schema: schema.name,
      name,
      kind,
      category,
      elementId,
      relationId,
      sql: typeSql(type, schema, quotedNames),
      enumSql: baseEnum?.[0] ?? null,
      enumSchema: baseEnum && { id: baseEnum[1], name: schemas.get(baseEnum[1])?.name ?? '' },
      baseSql: base?.[0] ?? null,
      oddlyOrdered,
      unordered,
      delimiter,
      operatorSchemaId: ownOperators.get(id)?.schemaId ?? 0,
      operatorIds: [
        ...[ownOperators.get(id)?.functionId ?? []].flat(),
        ...(arrayOperators.get(id) ?? []).map(([, functionId]) => functionId),
      ],
      labels: isExposedEnum ? (labels.get(id) ?? []).map(([, label]) => label) : null,
      comment: isExposedEnum ? comments.on('type', id) : null,
    };
  });
  return new Map(types.map((type) => [type.id, type]));
}

/** A type's name in SQL: qualified, unless it is in pg_catalog, which is always on the search path. */
function typeSql(
  [, , , quotedName, , , elementId, , shown]: RawType,
  schema: { readonly name: string; readonly quotedName: string },
  quotedNames: ReadonlyMap<number, string>,
): string {
  if (schema.name === 'pg_catalog') return shown;
  return elementId === 0 ? `${schema.quotedName}.${quotedName}` : `${schema.quotedName}.${quotedNames.get(elementId)}[]`;
}

/** Assembles the functions in order of id, yielding after each. */
export function* assembleFunctions(
  raw: RawCatalog,
  comments: CatalogComments,
  schemaNames: ReadonlyMap<number, string>,
  effects: Effects,
): Generator<void, CatalogFunction[]> {
  const defaults = new Map<number, Map<number, string | null>>();
  for (const [id, position, sql] of raw.defaults) defaults.set(id, (defaults.get(id) ?? new Map()).set(position, sql));
  const functions: CatalogFunction[] = [];
  for (const source of raw.functions) {
    const [id, schemaId, name, kind, extension, volatile, securityDefiner, plpgsql, variadic, returnsSet, rows, resultTypeId] = source;
    functions.push({
      id,
      schemaId,
      schema: schemaNames.get(schemaId) ?? '',
      name,
      kind,
      extension,
      volatile,
      securityDefiner,
      plpgsql,
      effects: effects.ofCalling(id),
      variadic,
      returnsSet,
      rows,
      resultTypeId,
      arguments: toArguments(source, defaults.get(id)),
      ambiguous: source[16],
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
function toArguments(raw: RawFunction, defaults: ReadonlyMap<number, string | null> | undefined): CatalogArgument[] {
  const [types, names, modes, defaultCount] = [raw[12], raw[13], raw[14], raw[15]];
  const positions = modes ? modes.flatMap((mode, position) => ('ibv'.includes(mode) ? [position] : [])) : [...types.keys()];
  return types.map((typeId, index) => {
    const position = positions[index] ?? index;
    return {
      name: names?.[position] ?? '',
      typeId,
      hasDefault: index >= types.length - defaultCount,
      defaultSql: defaults?.get(position + 1) ?? null,
    };
  });
}

/** Comments that contain a directive, by object. */
export class CatalogComments {
  readonly #texts = new Map<string, string>();
  readonly #tables = new Set<number>();

  constructor({ comments }: RawCatalog) {
    for (const [kind, id, number, text] of comments) {
      this.#texts.set(`${kind} ${id} ${number}`, text);
      if (kind === 'relation') this.#tables.add(id);
    }
  }

  /** The comment on an object, or null. */
  on(kind: CommentedKind, id: number): string | null {
    return this.#texts.get(`${kind} ${id} 0`) ?? null;
  }

  /** The comment on a column, or null. Few tables have such comments, so the others skip building a key for each column. */
  onColumn(tableId: number, number: number): string | null {
    return (this.#tables.has(tableId) && this.#texts.get(`relation ${tableId} ${number}`)) || null;
  }
}
