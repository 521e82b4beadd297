/**
 * The foreign keys that a role can follow: those of constraints, `foreign_keys` directives and views, between visible tables, over readable
 * columns.
 */
import type {
  Catalog,
  CatalogColumn,
  CatalogForeignKey,
  CatalogFunction,
  CatalogTable,
  CatalogViewForeignKey,
} from '../../catalog/catalog.ts';
import { type BuildContext, columnByNumber, Excluded, notGranted, privilegesOn } from '../build-context.ts';
import { type DeclaredForeignKey, type Directive, readDirective, readForeignKeys, readName } from '../directives.ts';
import { qualifiedName } from '../naming/names.ts';
import type { LazyTable } from '../tables/lazy-table.ts';
import { closedOperatorSchema, isComparable, whyOutOfReach } from '../tables/type-access.ts';

export interface ForeignKey {
  readonly name: string;
  readonly local: LazyTable;
  readonly localColumns: readonly CatalogColumn[];
  readonly target: LazyTable;
  readonly targetColumns: readonly CatalogColumn[];
  /** Names from the directive: of the field that leads to the referencing table, and of the one that leads to the target. */
  readonly localName: string | null;
  readonly foreignName: string | null;
  /** Names from the directive of a key by which a table refers to itself. */
  readonly lineageNames: { readonly ancestors: string | null; readonly descendants: string | null };
  /** Whether a row may have no target, or none that the role can see. */
  readonly nullable: boolean;
  readonly inferred: boolean;
  /** Whether it leads from a view's row to the row of a table that it shows. */
  readonly sameRow: boolean;
  /** Whether it is the copy of a foreign key for one partition of the table that this refers to. */
  readonly toPartition: boolean;
}

/** Resolves a table's outgoing or incoming keys to those that the role can follow, keeping their order. */
export function foreignKeysOf(context: BuildContext, definitions: readonly KeyDefinition[]): ForeignKey[] {
  return definitions.map((definition) => resolveKey(context, definition)).filter(isKey);
}

/** The key, or why the role cannot follow it; null if nobody has to know. */
export function resolveKey(context: BuildContext, definition: KeyDefinition): ForeignKey | Excluded | null {
  const name = nameOfKey(context, definition);
  switch (definition.kind) {
    case 'constraint':
      return resolveConstraint(context, name, definition.constraint);
    case 'copy': {
      // A row may refer to a row of another partition.
      const key = resolveConstraint(context, name, definition.constraint);
      return key instanceof Excluded ? key : { ...key, nullable: true, toPartition: true };
    }
    case 'inferred':
      return resolveInferred(context, name, definition.key);
    case 'declared': {
      const local = context.tables.get(definition.table.id);
      return local ? resolveDeclared(context, name, local, definition.declared) : null;
    }
  }
}

function isKey(key: ForeignKey | Excluded | null): key is ForeignKey {
  return key !== null && !(key instanceof Excluded);
}

export function nameOfKey({ links, schemas }: BuildContext, definition: KeyDefinition): string {
  const tableId = tableIdOf(definition);
  const table = links.tables.get(tableId);
  const owner = qualifiedName(schemas.get(table?.schemaId ?? 0)?.name ?? '', table?.name ?? '');
  if (definition.kind === 'declared') return `${owner}.foreign_keys[${definition.position}]`;
  return `${owner}.${definition.kind === 'inferred' ? definition.key.name : definition.constraint.name}`;
}

export function tableIdOf(definition: KeyDefinition): number {
  if (definition.kind === 'declared') return definition.table.id;
  return definition.kind === 'inferred' ? definition.key.tableId : definition.constraint.tableId;
}

function resolveConstraint(context: BuildContext, name: string, constraint: CatalogForeignKey): ForeignKey | Excluded {
  const local = context.tables.get(constraint.tableId);
  if (!local) return new Excluded('owner-left-out', 'its table is not in the API; see the finding for that table');
  const target = context.tables.get(constraint.targetId);
  if (!target || target.traits.key === null)
    return new Excluded(
      'owner-left-out',
      `its target ${constraint.targetName} is not in the API; see the finding for that table, or expose its schema`,
    );
  const localColumns = constraint.columns.map((number) => columnByNumber(local.traits.catalogTable, number));
  const targetColumns = constraint.targetColumns.map((number) => columnByNumber(target.traits.catalogTable, number));
  const key = keyBetween(context, name, local, localColumns, target, targetColumns, readDirective(constraint.comment));
  if (key instanceof Excluded) return key;
  // Tables that inherit from the referencing table need not satisfy its foreign key. Row level security may hide the target.
  const certain = constraint.validated && !local.traits.catalogTable.hasChildren && key.localColumns.every((column) => column.notNull);
  return { ...key, nullable: !certain || target.rowSecurity };
}

function resolveDeclared(
  context: BuildContext,
  name: string,
  local: LazyTable,
  declared: DeclaredForeignKey | undefined,
): ForeignKey | Excluded {
  if (!declared) {
    const reason = 'its directive is incomplete; it needs local_columns, foreign_schema, foreign_table and as many foreign_columns';
    return new Excluded('unusable-directive', reason);
  }
  const { foreignSchema, foreignTable } = declared;
  const target = context.tables.get(context.links.idOf(foreignSchema, foreignTable) ?? 0);
  if (!target || target.traits.key === null) {
    const reason = `its target ${qualifiedName(foreignSchema, foreignTable)} is not in the API; correct the directive, or expose the table`;
    return new Excluded('owner-left-out', reason);
  }
  const localColumns = declared.localColumns.map((column) =>
    local.traits.catalogTable.columns.find((existing) => existing.name === column),
  );
  const targetColumns = declared.foreignColumns.map((column) =>
    target.traits.catalogTable.columns.find((existing) => existing.name === column),
  );
  return keyBetween(context, name, local, localColumns, target, targetColumns, declared.directive);
}

/**
 * Null if the role cannot follow it or a table has opted out. Nothing is reported, because nobody declared it. Foreign keys in a directive
 * replace all inferred ones.
 */
function resolveInferred(context: BuildContext, name: string, inferred: CatalogViewForeignKey): ForeignKey | null {
  const [local, target] = [context.tables.get(inferred.tableId), context.tables.get(inferred.targetId)];
  if (!local || !target || target.traits.key === null || Object.hasOwn(local.traits.directive, 'foreign_keys')) return null;
  if (![local, target].every(({ additions }) => additions.has('inferredKeys'))) return null;
  const localColumns = inferred.columns.map((number) => columnByNumber(local.traits.catalogTable, number));
  const targetColumns = inferred.targetColumns.map((number) => columnByNumber(target.traits.catalogTable, number));
  const key = keyBetween(context, name, local, localColumns, target, targetColumns, readDirective(inferred.comment));
  if (key instanceof Excluded) return null;
  // Names in the constraint's comment are for the tables themselves, not for their views.
  const { views } = context.catalog;
  const localName = views.has(inferred.tableId) ? null : key.localName;
  const foreignName = views.has(inferred.targetId) ? null : key.foreignName;
  return { ...key, localName, foreignName, inferred: true, sameRow: inferred.sameRow };
}

type Columns = readonly (CatalogColumn | undefined)[];

function keyBetween(
  context: BuildContext,
  name: string,
  local: LazyTable,
  localColumns: Columns,
  target: LazyTable,
  targetColumns: Columns,
  directive: Directive,
): ForeignKey | Excluded {
  const [near, far] = [localColumns.filter(isPresent), targetColumns.filter(isPresent)];
  if (near.length < localColumns.length || far.length < targetColumns.length) {
    return new Excluded('unusable-directive', 'its directive names columns that do not exist; correct it');
  }
  const hidden = whyHidden(context, local, near) ?? whyHidden(context, target, far) ?? whyIncomparable(context, [...near, ...far]);
  if (hidden) return hidden;
  return {
    name,
    local,
    localColumns: near,
    target,
    targetColumns: far,
    localName: readName(directive, 'local_name'),
    foreignName: readName(directive, 'foreign_name'),
    lineageNames: { ancestors: readName(directive, 'ancestors_name'), descendants: readName(directive, 'descendants_name') },
    nullable: true,
    inferred: false,
    sameRow: false,
    toPartition: false,
  };
}

function whyHidden(
  context: BuildContext,
  { traits: { catalogTable }, schema, name }: LazyTable,
  columns: readonly CatalogColumn[],
): Excluded | undefined {
  const hidden = columns.find((column) => !privilegesOn(context, catalogTable, column).select);
  if (!hidden) return undefined;
  const reason = `the role ${context.privileges.role} cannot select the column ${qualifiedName(schema, name)}.${hidden.name}; grant select on it to the role`;
  return notGranted(reason, 'select', catalogTable.id, hidden.name);
}

/**
 * PostgreSQL ignores schemas on the search path that the role may not use, so it would compare the columns by other operators than the
 * foreign key does. If the role may not execute the function of the operator, queries fail.
 */
function whyIncomparable(context: BuildContext, columns: readonly CatalogColumn[]): Excluded | undefined {
  const { role } = context.privileges;
  for (const { typeId } of columns) {
    const type = context.catalog.types.get(typeId);
    if (!type || isComparable(context, type)) continue;
    const closed = closedOperatorSchema(context, type);
    if (!closed) return whyOutOfReach(context, type);
    const problem = `the role ${role} cannot use the schema ${closed.name}, which has the operators that compare its columns of type ${type.sql}`;
    return notGranted(`${problem}; grant usage on schema ${closed.name} to the role`, 'usage', closed.id);
  }
  return undefined;
}

function isPresent(column: CatalogColumn | undefined): column is CatalogColumn {
  return column !== undefined;
}

/** A foreign key of a constraint, of a table's directive, or inferred for a view; or the copy of a constraint for a partition. */
export type KeyDefinition =
  | { readonly kind: 'copy'; readonly constraint: CatalogForeignKey }
  | { readonly kind: 'constraint'; readonly constraint: CatalogForeignKey }
  | {
      readonly kind: 'declared';
      readonly table: CatalogTable;
      readonly position: number;
      readonly declared: DeclaredForeignKey | undefined;
    }
  | { readonly kind: 'inferred'; readonly key: CatalogViewForeignKey };

/** The links of one table. Keys of constraints come first, then declared ones, then inferred ones, then copies. */
interface TableLinks {
  readonly outgoing: readonly KeyDefinition[];
  readonly incoming: readonly KeyDefinition[];
  readonly functions: readonly CatalogFunction[];
  /** The tables over whose rows a function returns rows of this one. */
  readonly returnedFor: readonly number[];
}

export interface CatalogLinks {
  readonly tables: ReadonlyMap<number, CatalogTable>;
  idOf(schema: string, name: string): number | undefined;
  of(tableId: number): TableLinks;
}

const none: TableLinks = { outgoing: [], incoming: [], functions: [], returnedFor: [] };
const cache = new WeakMap<Catalog, CatalogLinks>();

/**
 * The links of a catalog, found once for all roles: a role's view of a table can then be built without a look at all others. Yields while
 * it finds them.
 */
export function* linkCatalog(catalog: Catalog): Generator<void, CatalogLinks> {
  const links = cache.get(catalog) ?? (yield* findLinks(catalog));
  cache.set(catalog, links);
  return links;
}

type MutableLinks = { [Key in keyof TableLinks]: TableLinks[Key][number][] };

function* findLinks(catalog: Catalog): Generator<void, CatalogLinks> {
  const schemas = new Map(catalog.schemas.map(({ id, name }) => [name, id]));
  const ids = new Map(catalog.tables.map(({ id, schemaId, name }) => [`${schemaId} ${name}`, id]));
  const idOf = (schema: string, name: string) => ids.get(`${schemas.get(schema)} ${name}`);
  const links = new Map<number, MutableLinks>();
  const at = (id: number): MutableLinks => {
    const found = links.get(id) ?? { outgoing: [], incoming: [], functions: [], returnedFor: [] };
    links.set(id, found);
    return found;
  };
  yield;
  for (const [tableId, targetId, key] of keyDefinitions(catalog, idOf)) {
    at(tableId).outgoing.push(key);
    if (targetId !== undefined) at(targetId).incoming.push(key);
    yield;
  }
  for (const catalogFunction of catalog.functions) {
    const [row, ...others] = catalogFunction.arguments;
    const rowTableId = row && catalog.types.get(row.typeId)?.relationId;
    if (!rowTableId) continue;
    at(rowTableId).functions.push(catalogFunction);
    // Filters and orders have no arguments.
    if (others.length > 0) continue;
    const result = catalog.types.get(catalogFunction.resultTypeId);
    // A domain over rows is read as these are.
    const resultTableId = result && (result.relationId || catalog.types.get(result.baseId)?.relationId);
    if (resultTableId) at(resultTableId).returnedFor.push(rowTableId);
    yield;
  }
  return { tables: new Map(catalog.tables.map((table) => [table.id, table])), idOf, of: (id) => links.get(id) ?? none };
}

function* keyDefinitions(
  catalog: Catalog,
  idOf: CatalogLinks['idOf'],
): Generator<readonly [tableId: number, targetId: number | undefined, KeyDefinition], void> {
  for (const constraint of catalog.foreignKeys) yield [constraint.tableId, constraint.targetId, { kind: 'constraint', constraint }];
  for (const table of catalog.tables) {
    for (const [position, declared] of readForeignKeys(readDirective(table.comment)).entries()) {
      const targetId = declared && idOf(declared.foreignSchema, declared.foreignTable);
      yield [table.id, targetId, { kind: 'declared', table, position, declared }];
    }
  }
  for (const key of catalog.viewForeignKeys) yield [key.tableId, key.targetId, { kind: 'inferred', key }];
  for (const constraint of catalog.partitionKeys) yield [constraint.tableId, constraint.targetId, { kind: 'copy', constraint }];
}
