/**
 * Builds a `Model` from catalog and privileges: what one role sees, and under which GraphQL names. Pure and deterministic. At first tables
 * only have their names; each is filled in on first use. Steps that visit every object are generators that yield after each, because with
 * thousands of tables they take longer than requests should wait (`slices.ts`).
 */
import type { Catalog, CatalogSchema } from '../catalog/catalog.ts';
import type { Privileges } from '../catalog/privileges.ts';
import { type Additions, allAdditions, type ModelSettings, narrowAdditions } from './additions.ts';
import { type BuildContext, Excluded, emptyNotes, type Notes, notGranted, type SchemaSettings } from './build-context.ts';
import { defaultMaxDepth, defaultMaxRows, readDirective, readMaximum } from './directives.ts';
import type { Model } from './model.ts';
import { ClaimedNames } from './naming/claimed-names.ts';
import { settleRowNames } from './naming/settle-row-names.ts';
import { buildLineages, noteLineages } from './relations/build-lineages.ts';
import { buildRelations, findReferrers, noteRelations } from './relations/build-relations.ts';
import { linkCatalog } from './relations/foreign-keys.ts';
import type { Exclusion, InferredKey, ReportedModel } from './report.ts';
import { buildComputedFields, buildRoutines, noteComputed } from './routines/build-routines.ts';
import { findOverloads } from './routines/overloads.ts';
import { buildArbiters, buildColumns, hasLookup } from './tables/build-columns.ts';
import { addComposites, claimComposites } from './tables/build-composites.ts';
import { addDomains } from './tables/build-domains.ts';
import { addEnums, claimListFilters } from './tables/build-enums.ts';
import { buildLookups } from './tables/build-lookups.ts';
import { buildSearch, searchConfigsOf } from './tables/build-search.ts';
import { addShapes, claimShapes } from './tables/build-shapes.ts';
import { addTables, claimAdaptedNames, claimAdditions, claimInsertOnly } from './tables/build-tables.ts';
import { claimInputTypes } from './tables/input-types.ts';
import { type LazyTable, type TableParts, traitsOfCatalog } from './tables/lazy-table.ts';
import { measuredInputsOf } from './tables/measured-column.ts';
import { namesAllTypes } from './tables/type-access.ts';
import { trigramsOf } from './tables/value-types.ts';

/** Builds the model of a role. Never throws. */
export function* buildModel(catalog: Catalog, privileges: Privileges, settings: ModelSettings = {}): Generator<void, Model> {
  const { model } = yield* build(catalog, privileges, settings, false);
  return model;
}

/** Like `buildModel`, but also reports what is not in the model, and why. */
export function* buildReportedModel(
  catalog: Catalog,
  privileges: Privileges,
  settings: ModelSettings = {},
): Generator<void, ReportedModel> {
  const { model, notes, inferredKeys } = yield* build(catalog, privileges, settings, true);
  return { ...model, ...notes, inferredKeys };
}

interface Built {
  readonly model: Model;
  readonly notes: Notes;
  readonly inferredKeys: readonly InferredKey[];
}

function* build(catalog: Catalog, privileges: Privileges, settings: ModelSettings, isReported: boolean): Generator<void, Built> {
  const notes = emptyNotes();
  const names = new ClaimedNames();
  const context = yield* newContext(catalog, privileges, settings, notes, isReported);
  const { additions, nodeIdField, json } = context.settings;
  const builder = {
    builtTables: 0,
    buildParts(table: LazyTable): TableParts {
      this.builtTables += 1;
      return buildParts(context, table, isReported ? notes : emptyNotes());
    },
    findReferrers: (table: LazyTable) => findReferrers(context, table),
    hasLookup: (table: LazyTable) => hasLookup(context, table),
  };
  yield* addTables(context, builder, names, notes);
  const uses = yield* addComposites(context, builder, notes);
  yield* addShapes(context, uses);
  yield* addEnums(context, names, notes);
  yield* claimAdaptedNames(context, names, notes);
  yield* claimAdditions(context, names, notes);
  claimListFilters(context, names);
  yield* addDomains(context, names, notes);
  claimComposites(context, uses, names, notes);
  claimShapes(context, names, notes);
  const inferredKeys = isReported ? yield* noteParts(context, notes) : [];
  const routines = yield* buildRoutines(context, names, notes);
  yield* claimInsertOnly(context, names, notes);
  const lookups = yield* buildLookups(context, names, notes);
  const subscriptionType = additions.has('subscriptions') || additions.has('streams') ? names.claimSubscriptionType() : null;
  const searchTypes = additions.has('search') ? names.claimSearchTypes() : null;
  const [tables, schemas] = [[...context.tables.values()], [...context.schemas.values()]];
  const composites = [...context.composites.values(), ...context.shapeTables.keys()];
  const model: Model = {
    role: privileges.role,
    schemas: schemas.map(({ name }) => name),
    tables: [...tables.filter(({ traits }) => traits.key !== null), ...context.insertOnly],
    lookups,
    rowTypes: [...tables.filter(({ traits }) => traits.key === null), ...composites.filter(({ composite }) => composite?.isRead)],
    composites,
    rowValues: [...context.rowUses.keys()],
    routines,
    enums: [...context.enums.values()],
    domains: [...context.domains.values()],
    introspection: schemas.some(({ introspection }) => introspection),
    nodeIdField,
    subscriptionType,
    searchTypes,
    searchConfigs: searchConfigsOf(catalog),
    json,
    specifiesScalars: additions.has('specifiedBy'),
    hasMoreOperators: additions.has('moreOperators'),
    hasTrigrams: trigramsOf(context) !== null,
    ...claimInputTypes(context, names),
    measuredInputs: yield* measuredInputsOf(context, [...tables, ...context.insertOnly]),
    countBuilt: () => builder.builtTables,
  };
  return { model, notes, inferredKeys };
}

function* newContext(
  catalog: Catalog,
  privileges: Privileges,
  { nodeIdField = 'nodeId', requiredInputs = false, json = 'string', additions = allAdditions }: ModelSettings,
  { exclusions }: Notes,
  isReported: boolean,
): Generator<void, BuildContext> {
  return {
    settings: { nodeIdField, requiredInputs, json, additions },
    catalog,
    privileges,
    links: yield* linkCatalog(catalog),
    traits: isReported || !namesAllTypes(catalog, privileges) ? null : traitsOfCatalog(catalog, additions),
    schemas: usableSchemas(catalog, privileges, additions, exclusions),
    tables: new Map(),
    insertOnly: [],
    enums: new Map(),
    composites: new Map(),
    rowUses: new Map(),
    shapes: new Map(),
    shapeTables: new Map(),
    compositeIds: new Set(catalog.composites.map(({ id }) => id)),
    overloads: findOverloads(catalog),
    domains: new Map(),
    valueTypes: new Map(),
  };
}

/** Builds the parts of a table that are built on first use. */
function buildParts(context: BuildContext, table: LazyTable, notes: Notes): TableParts {
  const { columns, ...keys } = buildColumns(context, table, notes);
  const relations = buildRelations(context, table);
  const computed = buildComputedFields(context, table);
  const lineages = buildLineages(table, relations);
  settleRowNames(context, table, { columns, relations, lineages, computed }, notes);
  const search = buildSearch(table.traits, columns);
  return {
    columns,
    ...keys,
    search,
    arbiters: buildArbiters(context, table),
    relations: relations.map(({ relation }) => relation),
    lineages: lineages.map(({ lineage }) => lineage),
    computed,
  };
}

/** Fills in all tables and reports what is left out of them, and of their relations and computed fields. */
function* noteParts(context: BuildContext, notes: Notes): Generator<void, readonly InferredKey[]> {
  for (const { columns } of [...context.tables.values(), ...context.insertOnly, ...context.composites.values()]) yield void columns;
  const inferredKeys = yield* noteRelations(context, notes);
  yield* noteLineages(context, notes, (table) => buildRelations(context, table));
  yield* noteComputed(context, notes);
  return inferredKeys;
}

function usableSchemas(
  catalog: Catalog,
  privileges: Privileges,
  additions: Additions,
  exclusions: Exclusion[],
): Map<number, SchemaSettings> {
  const usable = new Map<number, SchemaSettings>();
  for (const name of catalog.setting) {
    const schema = catalog.schemas.find((existing) => existing.name === name);
    if (!schema) {
      const why = new Excluded('missing-schema', 'it does not exist; create it, or remove it from the exposed schemas');
      exclusions.push({ object: 'schema', id: 0, name, ...why });
    } else if (!privileges.schemas.has(schema.id)) {
      const reason = `the role ${privileges.role} cannot use it; grant usage on schema ${name} to the role`;
      exclusions.push({ object: 'schema', id: schema.id, name, ...notGranted(reason, 'usage', schema.id) });
    } else {
      usable.set(schema.id, settingsOf(schema, additions));
    }
  }
  return usable;
}

function settingsOf({ id, name, comment }: CatalogSchema, additions: Additions): SchemaSettings {
  const directive = readDirective(comment);
  return {
    id,
    name,
    inflection: directive['inflect_names'] === true,
    maxRows: readMaximum(directive, 'max_rows') ?? defaultMaxRows,
    maxDepth: readMaximum(directive, 'max_depth') ?? defaultMaxDepth,
    introspection: directive['introspection'] === true,
    directive,
    additions: narrowAdditions(additions, directive),
  };
}
