/**
 * Catalog and privileges in, `Model` out: what one role sees, and under which GraphQL names. Pure and deterministic. What cannot be
 * exposed is left out and listed with the reason. All steps are
 * generators that yield after each object, because thousands of tables take longer than requests should wait (`slices.ts`).
 */
import type { Catalog, CatalogSchema, Privileges } from '../catalog/catalog.ts';
import { allAdditions } from './additions.ts';
import { addArbiters } from './build-arbiters.ts';
import { addColumns } from './build-columns.ts';
import { addComputed } from './build-computed.ts';
import type { BuildContext, SchemaSettings } from './build-context.ts';
import { addEnums } from './build-enums.ts';
import { addRelations } from './build-relations.ts';
import { buildRoutines } from './build-routines.ts';
import { addTables, claimAdditions } from './build-tables.ts';
import { readDirective, readMaxRows } from './directives.ts';
import { Excluded, notGranted } from './excluded.ts';
import type { Exclusion, Model } from './model.ts';
import type { ModelSettings } from './model-settings.ts';
import { settleRowNames } from './settle-row-names.ts';
import { TakenNames } from './taken-names.ts';

/** Rows per page unless a directive says otherwise. */
const defaultMaxRows = 30;

/** Builds the model of a role. Never throws. */
export function* buildModel(
  catalog: Catalog,
  privileges: Privileges,
  { nodeIdField = 'nodeId', requiredInputs = false, additions = allAdditions }: ModelSettings = {},
): Generator<void, Model> {
  const exclusions: Exclusion[] = [];
  const schemas = usableSchemas(catalog, privileges, exclusions);
  const context: BuildContext = {
    settings: { nodeIdField, requiredInputs, additions },
    catalog,
    privileges,
    schemas,
    sources: new Map(catalog.tables.filter(({ schemaId }) => schemas.has(schemaId)).map((table) => [table.id, table])),
    tables: new Map(),
    enums: new Map(),
    names: new TakenNames(),
    valueTypes: new Map(),
    exclusions,
    relationNames: new Map(),
    renamings: [],
    inferredKeys: [],
  };
  yield* addTables(context);
  yield* addEnums(context);
  yield* claimAdditions(context);
  yield* addColumns(context);
  yield* addArbiters(context);
  yield* addRelations(context);
  yield* addComputed(context);
  yield* settleRowNames(context);
  const routines = yield* buildRoutines(context);
  const tables = [...context.tables.values()];
  return {
    role: privileges.role,
    schemas: [...schemas.values()].map(({ name }) => name),
    tables: tables.filter(({ key }) => key !== null).map(({ table }) => table),
    rowTypes: tables.filter(({ key }) => key === null).map(({ table }) => table),
    routines,
    enums: [...context.enums.values()],
    introspection: [...schemas.values()].some(({ introspection }) => introspection),
    nodeIdField,
    specifiesScalars: additions.has('specifiedBy'),
    exclusions,
    renamings: context.renamings,
    inferredKeys: context.inferredKeys,
  };
}

function usableSchemas(catalog: Catalog, privileges: Privileges, exclusions: Exclusion[]): Map<number, SchemaSettings> {
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
      usable.set(schema.id, settingsOf(schema));
    }
  }
  return usable;
}

function settingsOf({ id, name, comment }: CatalogSchema): SchemaSettings {
  const directive = readDirective(comment);
  return {
    id,
    name,
    inflection: directive['inflect_names'] === true,
    maxRows: readMaxRows(directive) ?? defaultMaxRows,
    introspection: directive['introspection'] === true,
    directive,
  };
}
