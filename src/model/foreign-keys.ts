/**
 * The foreign keys that a role can follow: those of the catalog and of `foreign_keys` directives, between visible tables, over readable
 * columns.
 */
import type { CatalogColumn, CatalogForeignKey } from '../catalog/catalog.ts';
import { type DeclaredForeignKey, type Directive, readDirective, readForeignKeys, readName } from './directives.ts';
import { columnByNumber, type Draft, privilegesOn, qualifiedName, type TableDraft } from './draft.ts';

export interface ForeignKey {
  /** For messages. */
  readonly name: string;
  /** The table that refers. */
  readonly local: TableDraft;
  readonly localColumns: readonly CatalogColumn[];
  readonly target: TableDraft;
  readonly targetColumns: readonly CatalogColumn[];
  /** What the directive calls the field that leads to the referring table, and the one that leads to the target. */
  readonly localName: string | null;
  readonly foreignName: string | null;
  /** Whether a row may have no target that the role sees. */
  readonly nullable: boolean;
}

/** Collects the foreign keys, in the order of the catalog, then those that directives declare. Says why others are left out. */
export function collectForeignKeys(draft: Draft): ForeignKey[] {
  const keys: ForeignKey[] = [];
  const keep = (name: string, key: ForeignKey | string) => {
    if (typeof key !== 'string') keys.push(key);
    else draft.omissions.push({ object: 'relation', name, reason: key });
  };
  for (const constraint of draft.catalog.foreignKeys) {
    const source = draft.sources.get(constraint.tableId);
    const schema = source && draft.schemas.get(source.schemaId);
    if (!source || !schema) continue;
    const name = `${qualifiedName(schema.name, source.name)}.${constraint.name}`;
    keep(name, resolveConstraint(draft, constraint, name));
  }
  for (const local of draft.tables.values()) {
    for (const [position, declared] of readForeignKeys(local.directive).entries()) {
      const name = `${qualifiedName(local.table.schema, local.table.name)}.foreign_keys[${position}]`;
      keep(name, resolveDeclared(draft, local, declared, name));
    }
  }
  return keys;
}

function resolveConstraint(draft: Draft, constraint: CatalogForeignKey, name: string): ForeignKey | string {
  const local = draft.tables.get(constraint.tableId);
  if (!local) return 'its table is not in the API: see there';
  const target = draft.tables.get(constraint.targetId);
  if (!target) return `its target ${constraint.targetName} is not in the API: see there, or expose its schema`;
  const localColumns = constraint.columns.map((number) => columnByNumber(local.source, number));
  const targetColumns = constraint.targetColumns.map((number) => columnByNumber(target.source, number));
  const key = keyBetween(draft, name, local, localColumns, target, targetColumns, readDirective(constraint.comment));
  if (typeof key === 'string') return key;
  const certain = constraint.validated && key.localColumns.every((column) => column.notNull);
  // Row level security may hide the target.
  return { ...key, nullable: !certain || target.source.rowSecurity };
}

function resolveDeclared(draft: Draft, local: TableDraft, declared: DeclaredForeignKey | undefined, name: string): ForeignKey | string {
  if (!declared) {
    return 'its directive is incomplete: it needs local_columns, foreign_schema, foreign_table and as many foreign_columns';
  }
  const { foreignSchema, foreignTable } = declared;
  const target = [...draft.tables.values()].find(({ table }) => table.schema === foreignSchema && table.name === foreignTable);
  if (!target)
    return `its target ${qualifiedName(foreignSchema, foreignTable)} is not in the API: correct the directive, or expose the table`;
  const localColumns = declared.localColumns.map((column) => local.source.columns.find((existing) => existing.name === column));
  const targetColumns = declared.foreignColumns.map((column) => target.source.columns.find((existing) => existing.name === column));
  return keyBetween(draft, name, local, localColumns, target, targetColumns, declared.directive);
}

type Columns = readonly (CatalogColumn | undefined)[];

function keyBetween(
  draft: Draft,
  name: string,
  local: TableDraft,
  localColumns: Columns,
  target: TableDraft,
  targetColumns: Columns,
  directive: Directive,
): ForeignKey | string {
  const [near, far] = [localColumns.filter(isPresent), targetColumns.filter(isPresent)];
  if (near.length < localColumns.length || far.length < targetColumns.length) {
    return 'its directive names columns that do not exist: correct it';
  }
  const hidden =
    near.find((column) => !privilegesOn(draft, local.source, column).select) ??
    far.find((column) => !privilegesOn(draft, target.source, column).select);
  if (hidden) return `the role ${draft.privileges.role} may not select its column ${hidden.name}: grant select on it to the role`;
  return {
    name,
    local,
    localColumns: near,
    target,
    targetColumns: far,
    localName: readName(directive, 'local_name'),
    foreignName: readName(directive, 'foreign_name'),
    nullable: true,
  };
}

function isPresent(column: CatalogColumn | undefined): column is CatalogColumn {
  return column !== undefined;
}
