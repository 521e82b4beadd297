/**
 * The composite types that the role sees, and what functions return that have several columns: objects with their attributes, at any depth.
 * Only those of columns and functions that the role may use, so that the API has no type that nothing leads to.
 */
import type { CatalogFunction, CatalogTable } from '../../catalog/catalog.ts';
import { narrowAdditions } from '../additions.ts';
import { type BuildContext, Excluded, type Notes, privilegesOn, resultId, type SchemaSettings } from '../build-context.ts';
import { readDirective } from '../directives.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import {
  inClaimOrder,
  isFreeName,
  type PreferredName,
  preferredName,
  qualifiedName,
  routineNameOf,
  typeNameOf,
  upperFirst,
  whyAdapted,
} from '../naming/names.ts';
import { computedOwner, whyForbidden } from '../routines/routine-types.ts';
import { commonTraits, hasFields } from './build-tables.ts';
import { LazyTable, type TableBuilder, type TableTraits } from './lazy-table.ts';

const rename = 'choose another name with the comment directive {"name": "..."}';

/** Adds them to the context. Tables must already be there, and no value type may exist yet. */
export function* addComposites(context: BuildContext, builder: TableBuilder, notes: Notes): Generator<void, void> {
  const { catalog, composites, settings } = context;
  if (catalog.composites.length === 0 || !settings.additions.has('composites')) return;
  const all = new Map(catalog.composites.map((composite) => [composite.id, composite]));
  const functions = new Map(catalog.functions.map((catalogFunction) => [resultId(catalogFunction), catalogFunction]));
  const compositeOf = (typeId: number): CatalogTable | undefined => {
    const type = catalog.types.get(typeId);
    const own = type?.elementId ? catalog.types.get(type.elementId) : type;
    return own?.kind === 'c' ? all.get(own.relationId) : undefined;
  };
  /** Whether introspection shows what has the composite, by its id. */
  const uses = new Map<number, boolean>();
  const use = (composite: CatalogTable | undefined, isShown: boolean): void => {
    if (!composite || uses.get(composite.id) === true || uses.get(composite.id) === isShown) return;
    uses.set(composite.id, isShown);
    for (const { typeId } of composite.columns) use(compositeOf(typeId), isShown);
  };
  for (const { table, typeId, isShown } of usesOf(context)) {
    use(typeId === null ? all.get(table) : compositeOf(typeId), isShown);
    yield;
  }
  // Those inside others come first, because an object without fields is none.
  const add = (composite: CatalogTable): void => {
    if (composites.has(composite.id)) return;
    for (const { typeId } of composite.columns) {
      const inner = compositeOf(typeId);
      if (inner && uses.has(inner.id)) add(inner);
    }
    const traits = readTraits(context, composite, functions.get(composite.id), uses.get(composite.id) === true);
    if (!isFreeName(traits.plainName.name)) {
      const why = new Excluded('illegal-name', `"${traits.plainName.name}" is not a valid GraphQL name; ${rename}`);
      notes.exclusions.push({ object: traits.kind, id: composite.id, name: qualifiedName(traits.schema.name, composite.name), ...why });
    } else if (hasFields(context, traits)) composites.set(composite.id, new LazyTable(traits, builder));
  };
  for (const id of uses.keys()) add(all.get(id)!);
}

/** The composites by their id, or the types that may be one: those of visible columns and of the results of functions. */
function* usesOf(context: BuildContext): Generator<{ table: number; typeId: number | null; isShown: boolean }, void> {
  for (const { traits } of [...context.tables.values(), ...context.insertOnly]) {
    if (!traits.additions.has('composites')) continue;
    for (const column of traits.catalogTable.columns) {
      const { select, insert, update } = privilegesOn(context, traits.catalogTable, column);
      if (select || insert || update) yield { table: 0, typeId: column.typeId, isShown: traits.schema.introspection };
    }
  }
  for (const catalogFunction of context.catalog.functions) {
    const schema = context.schemas.get(catalogFunction.schemaId);
    const owner = computedOwner(context, catalogFunction);
    const isUsable = owner
      ? !whyForbidden(context, owner.traits.catalogTable, catalogFunction)
      : schema !== undefined && context.privileges.functions.has(catalogFunction.id);
    if (!isUsable || !(schema?.additions ?? context.settings.additions).has('composites')) continue;
    const isShown = (owner?.introspection ?? false) || (schema?.introspection ?? false);
    yield { table: 0, typeId: catalogFunction.resultTypeId, isShown };
    yield { table: resultId(catalogFunction), typeId: null, isShown };
  }
}

/** `catalogFunction` is the one that returns it, if it is no type. */
function readTraits(
  context: BuildContext,
  catalogTable: CatalogTable,
  catalogFunction: CatalogFunction | undefined,
  isShown: boolean,
): TableTraits {
  const schema = schemaOf(context, catalogTable, catalogFunction?.schema, isShown);
  const directive = readDirective(catalogTable.comment);
  const additions = narrowAdditions(context.settings.additions, schema.directive);
  return {
    ...commonTraits(catalogTable, schema, directive),
    plainName: catalogFunction
      ? resultName(routineNameOf(context, catalogFunction), schema)
      : preferredName(catalogTable.name, directive, (name) => typeNameOf(name, schema.inflection), additions),
    keyIsUnique: false,
    keyIsProven: false,
    totalCount: false,
    aggregate: false,
    selectable: true,
    insertable: false,
    updatable: false,
    deletable: false,
    isSearchable: false,
    searched: null,
    additions,
    key: null,
  };
}

/** The type of what a function returns is named after its field. */
function resultName({ name, origin }: PreferredName, { inflection }: SchemaSettings): PreferredName {
  return { name: `${inflection ? upperFirst(name) : name}Result`, origin: origin === 'adapted' ? 'adapted' : 'own' };
}

/** A type is shown if what has it is shown, in whatever schema it is. */
function schemaOf({ schemas, settings, catalog }: BuildContext, { schemaId }: CatalogTable, name: string | undefined, isShown: boolean) {
  const exposed = schemas.get(schemaId);
  if (exposed) return exposed.introspection || !isShown ? exposed : { ...exposed, introspection: true };
  const type = [...catalog.types.values()].find((each) => each.schemaId === schemaId);
  return {
    id: schemaId,
    name: name ?? type?.schema ?? '',
    inflection: false,
    maxRows: 0,
    introspection: isShown,
    directive: {},
    additions: settings.additions,
  } satisfies SchemaSettings;
}

/** Names them after everything that pg_graphql has, and after the domains. */
export function claimComposites(context: BuildContext, names: ClaimedNames, { renamings }: Notes): void {
  const inOrder = inClaimOrder(context.composites.values(), context.schemas, ({ traits: { catalogTable, schema, plainName } }) => ({
    schemaId: schema.id,
    catalogName: catalogTable.name,
    origin: plainName.origin,
  }));
  for (const composite of inOrder) {
    const { id, kind, schema, name, traits } = composite;
    const plain = composite.typeName;
    composite.typeName = names.claimRows({ name: plain, schema, inflection: traits.schema.inflection });
    const renaming = { object: kind, id, name: qualifiedName(schema, name) };
    if (composite.typeName !== plain) {
      const reason = `the name "${plain}" is already taken, so it is called "${composite.typeName}"; ${rename}`;
      renamings.push({ ...renaming, reason });
    }
    if (traits.plainName.origin === 'adapted') renamings.push({ ...renaming, reason: whyAdapted(name, composite.typeName, rename) });
  }
}
