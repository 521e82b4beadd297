/**
 * The foreign keys that a role can follow: those of the catalog and of `foreign_keys` directives, between visible tables, over readable
 * columns.
 */
import type { CatalogColumn, CatalogForeignKey, CatalogViewForeignKey } from '../catalog/catalog.ts';
import { type BuildContext, columnByNumber, privilegesOn, type TableContext } from './build-context.ts';
import { type DeclaredForeignKey, type Directive, readDirective, readForeignKeys, readName } from './directives.ts';
import { Excluded, notGranted } from './excluded.ts';
import { qualifiedName } from './object-names.ts';

export interface ForeignKey {
  /** For messages. */
  readonly name: string;
  /** The table that refers. */
  readonly local: TableContext;
  readonly localColumns: readonly CatalogColumn[];
  readonly target: TableContext;
  readonly targetColumns: readonly CatalogColumn[];
  /** What the directive calls the field that leads to the referring table, and the one that leads to the target. */
  readonly localName: string | null;
  readonly foreignName: string | null;
  /** Whether a row may have no target that the role sees. */
  readonly nullable: boolean;
  /** Whether it follows from the definition of a view. */
  readonly inferred: boolean;
}

/** Collects the foreign keys, in the order of the catalog, then those that directives declare, then those that are inferred. Reports why others are left out. */
export function* collectForeignKeys(context: BuildContext): Generator<void, ForeignKey[]> {
  const keys: ForeignKey[] = [];
  const keep = (id: number, name: string, key: ForeignKey | Excluded) => {
    if (key instanceof Excluded) context.exclusions.push({ object: 'relation', id, name, ...key });
    else keys.push(key);
  };
  for (const constraint of context.catalog.foreignKeys) {
    const source = context.sources.get(constraint.tableId);
    const schema = source && context.schemas.get(source.schemaId);
    if (!source || !schema) continue;
    const name = `${qualifiedName(schema.name, source.name)}.${constraint.name}`;
    keep(source.id, name, resolveConstraint(context, constraint, name));
    yield;
  }
  for (const local of context.tables.values()) {
    for (const [position, declared] of readForeignKeys(local.directive).entries()) {
      const name = `${qualifiedName(local.table.schema, local.table.name)}.foreign_keys[${position}]`;
      keep(local.table.id, name, resolveDeclared(context, local, declared, name));
      yield;
    }
  }
  for (const source of context.catalog.viewForeignKeys) {
    const key = resolveInferred(context, source);
    if (key !== null) keys.push(key);
    yield;
  }
  return keys;
}

function resolveConstraint(context: BuildContext, constraint: CatalogForeignKey, name: string): ForeignKey | Excluded {
  const local = context.tables.get(constraint.tableId);
  if (!local) return new Excluded('owner-left-out', 'its table is not in the API; see the finding for that table');
  const target = context.tables.get(constraint.targetId);
  if (!target || target.key === null)
    return new Excluded(
      'owner-left-out',
      `its target ${constraint.targetName} is not in the API; see the finding for that table, or expose its schema`,
    );
  const localColumns = constraint.columns.map((number) => columnByNumber(local.source, number));
  const targetColumns = constraint.targetColumns.map((number) => columnByNumber(target.source, number));
  const key = keyBetween(context, name, local, localColumns, target, targetColumns, readDirective(constraint.comment));
  if (key instanceof Excluded) return key;
  const certain = constraint.validated && key.localColumns.every((column) => column.notNull);
  // Row level security may hide the target.
  return { ...key, nullable: !certain || target.source.rowSecurity };
}

function resolveDeclared(
  context: BuildContext,
  local: TableContext,
  declared: DeclaredForeignKey | undefined,
  name: string,
): ForeignKey | Excluded {
  if (!declared) {
    const reason = 'its directive is incomplete; it needs local_columns, foreign_schema, foreign_table and as many foreign_columns';
    return new Excluded('unusable-directive', reason);
  }
  const { foreignSchema, foreignTable } = declared;
  const target = [...context.tables.values()].find(({ table }) => table.schema === foreignSchema && table.name === foreignTable);
  if (!target || target.key === null) {
    const reason = `its target ${qualifiedName(foreignSchema, foreignTable)} is not in the API; correct the directive, or expose the table`;
    return new Excluded('owner-left-out', reason);
  }
  const localColumns = declared.localColumns.map((column) => local.source.columns.find((existing) => existing.name === column));
  const targetColumns = declared.foreignColumns.map((column) => target.source.columns.find((existing) => existing.name === column));
  return keyBetween(context, name, local, localColumns, target, targetColumns, declared.directive);
}

/** Null where one of the two does without: nobody has asked for it, so that nothing is reported. What a directive declares replaces all that is inferred. */
function resolveInferred(context: BuildContext, source: CatalogViewForeignKey): ForeignKey | null {
  const [local, target] = [context.tables.get(source.tableId), context.tables.get(source.targetId)];
  if (!local || !target || target.key === null || Object.hasOwn(local.directive, 'foreign_keys')) return null;
  if (![local, target].every(({ table }) => table.additions.has('inferredKeys'))) return null;
  const localColumns = source.columns.map((number) => columnByNumber(local.source, number));
  const targetColumns = source.targetColumns.map((number) => columnByNumber(target.source, number));
  const name = `${qualifiedName(local.table.schema, local.table.name)}.${source.name}`;
  const key = keyBetween(context, name, local, localColumns, target, targetColumns, readDirective(source.comment));
  if (key instanceof Excluded) return null;
  // A name that the constraint's comment gives is that of the table itself.
  const { views } = context.catalog;
  const localName = views.has(source.tableId) ? null : key.localName;
  const foreignName = views.has(source.targetId) ? null : key.foreignName;
  return { ...key, localName, foreignName, inferred: true };
}

type Columns = readonly (CatalogColumn | undefined)[];

function keyBetween(
  context: BuildContext,
  name: string,
  local: TableContext,
  localColumns: Columns,
  target: TableContext,
  targetColumns: Columns,
  directive: Directive,
): ForeignKey | Excluded {
  const [near, far] = [localColumns.filter(isPresent), targetColumns.filter(isPresent)];
  if (near.length < localColumns.length || far.length < targetColumns.length) {
    return new Excluded('unusable-directive', 'its directive names columns that do not exist; correct it');
  }
  const hidden = whyHidden(context, local, near) ?? whyHidden(context, target, far);
  if (hidden) return hidden;
  return {
    name,
    local,
    localColumns: near,
    target,
    targetColumns: far,
    localName: readName(directive, 'local_name'),
    foreignName: readName(directive, 'foreign_name'),
    nullable: true,
    inferred: false,
  };
}

function whyHidden(context: BuildContext, { source, table }: TableContext, columns: readonly CatalogColumn[]): Excluded | undefined {
  const hidden = columns.find((column) => !privilegesOn(context, source, column).select);
  if (!hidden) return undefined;
  const name = `${qualifiedName(table.schema, table.name)}.${hidden.name}`;
  const reason = `the role ${context.privileges.role} cannot select the column ${name}; grant select on it to the role`;
  return notGranted(reason, 'select', source.id, hidden.name);
}

function isPresent(column: CatalogColumn | undefined): column is CatalogColumn {
  return column !== undefined;
}
