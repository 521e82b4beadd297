/**
 * The composite types that the role sees, and what functions return that have several columns: objects with their attributes, at any depth.
 * Only those of columns and functions that the role may use, so that the API has no type that nothing leads to.
 */
import type { CatalogFunction, CatalogTable } from '../../catalog/catalog.ts';
import { narrowAdditions } from '../additions.ts';
import {
  type BuildContext,
  compositeTypeIn,
  Excluded,
  isResult,
  type Notes,
  privilegesOn,
  resultId,
  type SchemaSettings,
} from '../build-context.ts';
import { readDirective } from '../directives.ts';
import type { CompositeParts } from '../model.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import { filterTypeName, listFilterTypeName } from '../naming/graphql-names.ts';
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
import { additionsOf, computedOwner, whyForbidden } from '../routines/routine-types.ts';
import { commonTraits, hasFields } from './build-tables.ts';
import { LazyTable, type TableBuilder, type TableTraits } from './lazy-table.ts';

const rename = 'choose another name with the comment directive {"name": "..."}';

/** What leads to a composite type: to its object type, its input, its filter, the filter of its arrays, and the inputs of orders and groups. */
export interface CompositeUse {
  /** Whether introspection shows what leads to it. */
  readonly isShown: boolean;
  readonly isRead: boolean;
  /** Whether columns or attributes have it, and not only what functions return. */
  readonly hasValues: boolean;
  readonly isWritten: boolean;
  readonly isFiltered: boolean;
  readonly isListFiltered: boolean;
  readonly isOrdered: boolean;
}

const useKinds = [
  'isShown',
  'isRead',
  'hasValues',
  'isWritten',
  'isFiltered',
  'isListFiltered',
  'isOrdered',
] as const satisfies readonly (keyof CompositeUse)[];
const unused = Object.fromEntries(useKinds.map((kind) => [kind, false])) as Record<keyof CompositeUse, false>;

/** Adds them to the context, and returns what leads to each, by id. Tables must already be there, and no value type may exist yet. */
export function* addComposites(context: BuildContext, builder: TableBuilder, notes: Notes): Generator<void, Map<number, CompositeUse>> {
  const { catalog, composites, settings } = context;
  const uses = new Map<number, CompositeUse>();
  if (!settings.additions.has('composites')) return uses;
  const all = new Map(catalog.composites.map((composite) => [composite.id, composite]));
  const functions = new Map(catalog.functions.map((catalogFunction) => [resultId(catalogFunction), catalogFunction]));
  const note = (composite: CatalogTable | undefined, added: CompositeUse): void => {
    const after = composite && widened(uses.get(composite.id), added);
    if (!after) return;
    uses.set(composite.id, after);
    const hasValues = added.isRead && !isResult(composite);
    for (const { typeId } of composite.columns) noteType(typeId, { ...added, hasValues });
  };
  const noteRow = (table: LazyTable | undefined, added: CompositeUse): void => {
    if (!table || table.traits.key === null || !(added.hasValues || added.isWritten || added.isFiltered)) return;
    const after = widened(context.rowUses.get(table), added);
    if (!after) return;
    context.rowUses.set(table, after);
    // The table itself leads to whatever else its columns have.
    const written = { ...unused, isShown: added.isShown, isWritten: true };
    if (added.isWritten) for (const { typeId } of table.traits.catalogTable.columns) noteType(typeId, written);
  };
  const noteType = (typeId: number, added: CompositeUse): void => {
    const type = compositeTypeIn(context, typeId);
    if (!type) return;
    const isArray = type.id !== typeId && catalog.types.get(typeId)?.category === 'A';
    const use = { ...added, isListFiltered: added.isFiltered && isArray, isOrdered: added.isOrdered && !isArray };
    note(all.get(type.relationId), use);
    noteRow(context.tables.get(type.relationId), use);
  };
  for (const { table, typeId, ...added } of usesOf(context)) {
    if (typeId === null) note(all.get(table), added);
    else noteType(typeId, added);
    yield;
  }
  // Those inside others come first, because an object without fields is none.
  const add = (composite: CatalogTable): void => {
    if (composites.has(composite.id)) return;
    for (const { typeId } of composite.columns) {
      const inner = all.get(compositeTypeIn(context, typeId)?.relationId ?? 0);
      if (inner && uses.has(inner.id)) add(inner);
    }
    const traits = readTraits(context, composite, functions.get(composite.id), uses.get(composite.id)!.isShown);
    if (!isFreeName(traits.plainName.name)) {
      const why = new Excluded('illegal-name', `"${traits.plainName.name}" is not a valid GraphQL name; ${rename}`);
      notes.exclusions.push({ object: traits.kind, id: composite.id, name: qualifiedName(traits.schema.name, composite.name), ...why });
    } else if (hasFields(context, traits)) composites.set(composite.id, new LazyTable(traits, builder));
  };
  for (const id of uses.keys()) add(all.get(id)!);
  return uses;
}

/** Both uses; undefined if there is nothing new in `added`. */
function widened(before: CompositeUse | undefined, added: CompositeUse): CompositeUse | undefined {
  const after = { ...(before ?? unused) };
  for (const kind of useKinds) after[kind] ||= added[kind];
  return before && useKinds.every((kind) => before[kind] === after[kind]) ? undefined : after;
}

/** The composites by their id, or the types that may be one: those of visible columns, and of the arguments and results of functions. */
function* usesOf(context: BuildContext): Generator<CompositeUse & { table: number; typeId: number | null }, void> {
  for (const { traits } of [...context.tables.values(), ...context.insertOnly]) {
    if (!traits.additions.has('composites')) continue;
    for (const column of traits.catalogTable.columns) {
      const { select, insert, update } = privilegesOn(context, traits.catalogTable, column);
      const use = { ...unused, isShown: traits.schema.introspection, isWritten: insert || update };
      const ofReaders = { isRead: select, hasValues: select, isFiltered: select, isOrdered: select };
      if (select || insert || update) yield { ...use, ...ofReaders, table: 0, typeId: column.typeId };
    }
  }
  for (const catalogFunction of context.catalog.functions) {
    const schema = context.schemas.get(catalogFunction.schemaId);
    const owner = computedOwner(context, catalogFunction);
    const isUsable = owner
      ? !whyForbidden(context, owner.traits.catalogTable, catalogFunction)
      : schema !== undefined && context.privileges.functions.has(catalogFunction.id);
    if (!isUsable || !additionsOf(context, catalogFunction).has('composites')) continue;
    const use = { ...unused, isShown: (owner?.introspection ?? false) || (schema?.introspection ?? false) };
    yield { ...use, isRead: true, table: 0, typeId: catalogFunction.resultTypeId };
    yield { ...use, isRead: true, table: resultId(catalogFunction), typeId: null };
    for (const { typeId } of catalogFunction.arguments) yield { ...use, isWritten: true, table: 0, typeId };
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
    keyTakesNulls: false,
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
    maxDepth: 0,
    introspection: isShown,
    directive: {},
    additions: settings.additions,
  } satisfies SchemaSettings;
}

/** Names them after everything that pg_graphql has, and after the domains. */
export function claimComposites(
  context: BuildContext,
  uses: ReadonlyMap<number, CompositeUse>,
  names: ClaimedNames,
  { renamings }: Notes,
): void {
  const inOrder = inClaimOrder(context.composites.values(), context.schemas, ({ traits: { catalogTable, schema, plainName } }) => ({
    schemaId: schema.id,
    catalogName: catalogTable.name,
    origin: plainName.origin,
  }));
  for (const composite of inOrder) {
    const { id, kind, schema, name, traits } = composite;
    const plain = composite.typeName;
    const use = uses.get(id) ?? unused;
    if (use.isRead) composite.typeName = names.claimRows({ name: plain, schema, inflection: traits.schema.inflection });
    const { typeName } = composite;
    composite.composite = claimParts(composite, use, names);
    const renaming = { object: kind, id, name: qualifiedName(schema, name) };
    if (typeName !== plain) {
      const reason = `the name "${plain}" is already taken, so it is called "${typeName}"; ${rename}`;
      renamings.push({ ...renaming, reason });
    }
    if (traits.plainName.origin === 'adapted') renamings.push({ ...renaming, reason: whyAdapted(name, typeName, rename) });
  }
  for (const [table, use] of context.rowUses) {
    const stem = `${table.typeName}Row`;
    const valueName = use.hasValues ? names.claimShared(stem) : null;
    table.composite = { ...claimParts(table, use, names, stem), valueName };
  }
}

/** Names what a composite type, the shape of JSON or a row has besides its object type. `stem`: what the names of others than inputs begin with. */
export function claimParts(
  { typeName, traits: { catalogTable, additions } }: LazyTable,
  { isRead, isWritten, isFiltered, isListFiltered, isOrdered }: CompositeUse,
  names: ClaimedNames,
  stem = typeName,
): CompositeParts {
  const claim = (name: string): string => names.claimShared(name);
  return {
    attributes: catalogTable.columns.map(({ name }) => name),
    isRead,
    valueName: null,
    isResult: isResult(catalogTable),
    inputName: isWritten ? claim(`${typeName}Input`) : null,
    filterName: isFiltered ? claim(filterTypeName(stem)) : null,
    listFilterName: isListFiltered ? claim(listFilterTypeName(stem)) : null,
    orderName: isOrdered ? claim(`${stem}OrderBy`) : null,
    groupNames: isOrdered && additions.has('groups') ? claimGroups(stem, claim) : null,
  };
}

function claimGroups(stem: string, claim: (name: string) => string): NonNullable<CompositeParts['groupNames']> {
  return {
    key: claim(`${stem}GroupKey`),
    by: claim(`${stem}GroupBy`),
    bucket: claim(`${stem}GroupByBucket`),
    order: claim(`${stem}GroupKeyOrder`),
  };
}
