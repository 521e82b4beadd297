/** The tables that a role sees, with their type names: those with a key, a legal name and a readable column. */
import type { CatalogColumn, CatalogTable } from '../../catalog/catalog.ts';
import { type Additions, narrowAdditions, ofAggregates, ofRelations } from '../additions.ts';
import { type BuildContext, Excluded, type Notes, notGranted, privilegesOn, type SchemaSettings } from '../build-context.ts';
import { type Directive, readDescription, readDirective, readEnabled, readLiveRefresh, readMaximum } from '../directives.ts';
import type { Table } from '../model.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import {
  columnNameOf,
  inClaimOrder,
  isFreeName,
  preferredName,
  qualifiedName,
  tableKinds,
  typeNameOf,
  whyAdapted,
} from '../naming/names.ts';
import type { Renaming } from '../report.ts';
import { computedOwner, isSetOfRows, whyForbidden } from '../routines/routine-types.ts';
import { findSearched } from './build-search.ts';
import { type FoundTable, LazyTable, type TableBuilder, type TableTraits } from './lazy-table.ts';
import { isProven, keyOf, takesNulls } from './table-keys.ts';
import { isInsertable, isReadable, isUpdatable } from './value-types.ts';

const rename = 'choose another name with the comment directive {"name": "..."}';

export function* addTables(context: BuildContext, builder: TableBuilder, names: ClaimedNames, notes: Notes): Generator<void, void> {
  const keyless = new Map<number, TableTraits>();
  for (const catalogTable of context.catalog.tables) {
    const schema = context.schemas.get(catalogTable.schemaId);
    if (!schema) continue;
    const traits =
      context.traits?.of(catalogTable, context.privileges, () => readTraits(context, catalogTable, schema)) ??
      readTraits(context, catalogTable, schema);
    if (traits instanceof Excluded) exclude(notes, catalogTable, schema, traits);
    else if (traits.key instanceof Excluded) {
      exclude(notes, catalogTable, schema, traits.key);
      keyless.set(catalogTable.id, { ...traits, key: null });
    } else if (!traits.selectable) context.insertOnly.push(new LazyTable(traits as TableTraits, builder));
    else context.tables.set(catalogTable.id, new LazyTable(traits as TableTraits, builder));
    yield;
  }
  addRowTypes(context, builder, keyless);
  yield;
  yield* claimNames(
    context,
    [...context.tables.values()].filter((table) => !isAdapted(table)),
    names,
    notes,
  );
}

function exclude({ exclusions }: Notes, { id, kind, name }: CatalogTable, schema: SchemaSettings, why: Excluded): void {
  exclusions.push({ object: tableKinds[kind], id, name: qualifiedName(schema.name, name), ...why });
}

/** The result depends only on the role's privileges on this table. */
function readTraits(context: BuildContext, catalogTable: CatalogTable, schema: SchemaSettings): FoundTable {
  const directive = readDirective(catalogTable.comment);
  const kind = tableKinds[catalogTable.kind];
  if (catalogTable.columns.length === 0) return new Excluded('no-columns', 'it has no columns; add some');
  const additions = narrowAdditions(context.settings.additions, schema.directive, directive);
  const able = abilities(context, catalogTable, directive, additions);
  if (!able.selectable && !(able.insertable && additions.has('insertOnly'))) {
    const remedy = `grant select on the ${kind}, or on some of its columns, to the role`;
    return notGranted(`the role ${context.privileges.role} cannot select any of its columns; ${remedy}`, 'select', catalogTable.id);
  }
  const plainName = preferredName(catalogTable.name, directive, (name) => typeNameOf(name, schema.inflection), additions);
  if (!isFreeName(plainName.name)) {
    return new Excluded('illegal-name', `"${plainName.name}" is not a valid GraphQL name; ${rename}`);
  }
  const key = keyOf(context, catalogTable, directive, additions);
  const searched = able.selectable && additions.has('search') ? findSearched(context, catalogTable, directive) : null;
  const keyIsUnique = !catalogTable.hasChildren && catalogTable.indexes.some(({ primary, immediate }) => primary && immediate);
  return {
    ...commonTraits(catalogTable, schema, directive),
    plainName,
    keyIsUnique,
    keyIsProven: keyIsUnique || isProven(context, catalogTable, key),
    keyTakesNulls: !(key instanceof Excluded) && takesNulls(context, catalogTable, directive, additions),
    totalCount: able.selectable && readEnabled(directive, 'totalCount'),
    ...able,
    isSearchable: searched !== null,
    searched,
    additions,
    key,
  };
}

/** How often live queries on shards are evaluated, in milliseconds: the coordinator does not learn of changes there. */
const refreshOfShards = 1000;

/** What is read alike of tables and of composite types. */
export function commonTraits(catalogTable: CatalogTable, schema: SchemaSettings, directive: Directive) {
  const { kind, keepsNotNull, rowSecurity, roleIndependent, readEffects, writeEffects, placement, fillsColumns, runsBeforeInsert } =
    catalogTable;
  return {
    catalogTable,
    schema,
    directive,
    kind: tableKinds[kind],
    description: readDescription(directive),
    keepsNotNull,
    // Partitions may have their own triggers.
    insertsEveryRow: kind === 'r' && !fillsColumns,
    insertsFirst: kind === 'r' && !fillsColumns && !runsBeforeInsert,
    rowSecurity,
    roleIndependent,
    readEffects,
    writeEffects,
    placement,
    maxRows: readMaximum(directive, 'max_rows') ?? schema.maxRows,
    liveRefresh: readLiveRefresh(directive) ?? (placement === null ? null : refreshOfShards),
  };
}

/**
 * Adds tables without a key whose rows computed fields return, if the rows have any field. Such a table may in turn own computed fields
 * that return more of them.
 */
function addRowTypes(context: BuildContext, builder: TableBuilder, keyless: Map<number, TableTraits>): void {
  let found = keyless.size > 0;
  while (found) {
    found = false;
    for (const catalogFunction of context.catalog.functions) {
      const id = context.catalog.types.get(catalogFunction.resultTypeId)?.relationId ?? 0;
      const rows = keyless.get(id);
      const owner = rows && computedOwner(context, catalogFunction);
      if (!rows || !owner || isSetOfRows(catalogFunction) || whyForbidden(context, owner.traits.catalogTable, catalogFunction)) continue;
      if (!hasFields(context, rows)) continue;
      context.tables.set(id, new LazyTable(rows, builder));
      keyless.delete(id);
      found = true;
    }
  }
}

export function hasFields(context: BuildContext, traits: TableTraits): boolean {
  return traits.catalogTable.columns.some(
    (column) =>
      privilegesOn(context, traits.catalogTable, column).select &&
      isReadable(context, column) &&
      isFreeName(columnNameOf(traits, column).name),
  );
}

/** Names the tables whose names had to be adapted. Enums must have their names already. */
export function* claimAdaptedNames(context: BuildContext, names: ClaimedNames, notes: Notes): Generator<void, void> {
  const adapted = [...context.tables.values()].filter(isAdapted);
  yield* claimNames(context, adapted, names, notes);
  for (const table of adapted) {
    const reason = whyAdapted(table.name, table.typeName, rename);
    notes.renamings.push({ object: table.kind, id: table.id, name: qualifiedName(table.schema, table.name), reason });
  }
}

function isAdapted({ traits }: LazyTable): boolean {
  return traits.plainName.origin === 'adapted';
}

/** Names tables. Those with a key claim their types and root fields before those that only have a row type. */
function* claimNames(
  context: BuildContext,
  tables: readonly LazyTable[],
  names: ClaimedNames,
  { renamings }: Notes,
): Generator<void, void> {
  const inOrder = inClaimOrder(tables, context.schemas, ({ traits: { catalogTable, schema, plainName } }) => ({
    schemaId: schema.id,
    catalogName: catalogTable.name,
    origin: plainName.origin,
  }));
  for (const hasKey of [true, false]) {
    for (const table of inOrder) {
      const { schema, key } = table.traits;
      if ((key !== null) !== hasKey) continue;
      const plain = table.typeName;
      const claimant = { name: plain, schema: schema.name, inflection: schema.inflection };
      if (hasKey) Object.assign(table, names.claimTable(claimant, table.traits));
      else table.typeName = names.claimRows(claimant);
      const renamed = [...(table.typeName === plain ? [] : [table.typeName]), ...table.renamedTypes.values()];
      if (renamed.length > 0) renamings.push(renamingOf(table, plain, renamed));
      yield;
    }
  }
}

/** Names the types of additions, after everything that pg_graphql has: if a name is taken, the addition gets another. */
export function* claimAdditions(context: BuildContext, names: ClaimedNames, { renamings }: Notes): Generator<void, void> {
  for (const table of context.tables.values()) {
    const { schema, key } = table.traits;
    if (key === null || context.settings.additions.size === 0) continue;
    const claimant = { name: table.stem, schema: schema.name, inflection: schema.inflection };
    const renamed = names.claimAdditions(
      claimant,
      (addition) =>
        (table.additions.has(addition) || (ofRelations.has(addition) && context.settings.additions.has(addition))) &&
        (table.aggregate || !ofAggregates.has(addition)),
    );
    if (renamed.size === 0) continue;
    table.renamedTypes = new Map([...table.renamedTypes, ...renamed]);
    const plain = [...renamed.keys()].map((suffix) => `${table.stem}${suffix}`);
    renamings.push(renamingOf(table, plain.join(', '), [...renamed.values()], table.stem));
    yield;
  }
}

/** Names the tables that the role only inserts into, after everything else. */
export function* claimInsertOnly({ insertOnly }: BuildContext, names: ClaimedNames, { renamings }: Notes): Generator<void, void> {
  for (const table of insertOnly) {
    const { schema, plainName } = table.traits;
    table.stem = names.claimInserts({ name: plainName.name, schema: schema.name, inflection: schema.inflection }, table.traits);
    table.typeName = table.stem;
    if (table.stem !== plainName.name) renamings.push(renamingOf(table, plainName.name, [table.stem], plainName.name));
    yield;
    if (!isAdapted(table)) continue;
    const reason = whyAdapted(table.name, table.typeName, rename);
    renamings.push({ object: table.kind, id: table.id, name: qualifiedName(table.schema, table.name), reason });
  }
}

function renamingOf({ id, kind, schema, name, stem }: Table, plain: string, renamed: readonly string[], plainStem = plain): Renaming {
  const fields = stem === plainStem ? '' : `, and its fields begin with ${stem}`;
  const reason = `the name "${plain}", or one derived from it, is already taken, so its types are called ${renamed.join(', ')}${fields}; ${rename}`;
  return { object: kind, id, name: qualifiedName(schema, name), reason };
}

function abilities(context: BuildContext, catalogTable: CatalogTable, directive: Directive, additions: Additions) {
  const may = (verb: 'select' | 'insert' | 'update', can: (column: CatalogColumn) => boolean) =>
    catalogTable.columns.some((column) => privilegesOn(context, catalogTable, column)[verb] && can(column));
  const selectable = may('select', () => true);
  // Without select, updates and deletes could have no filter.
  return {
    selectable,
    insertable: catalogTable.canInsert && may('insert', (column) => isInsertable(context, column, additions)),
    updatable: selectable && catalogTable.canUpdate && may('update', (column) => isUpdatable(context, column, additions)),
    deletable: selectable && catalogTable.canDelete && (context.privileges.tables.get(catalogTable.id)?.delete ?? false),
    aggregate: selectable && readEnabled(directive, 'aggregate'),
  };
}
