/**
 * The foreign keys that a role can follow: those of the catalog and of `foreign_keys` directives, between visible tables, over readable
 * columns.
 */
import type { CatalogColumn, CatalogForeignKey } from '../catalog/catalog.ts';
import { type DeclaredForeignKey, type Directive, readDirective, readForeignKeys, readName } from './directives.ts';
import { columnByNumber, type Draft, privilegesOn, type TableDraft } from './draft.ts';
import { LeftOut, notGranted } from './left-out.ts';
import { qualifiedName } from './object-names.ts';

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
export function* collectForeignKeys(draft: Draft): Generator<void, ForeignKey[]> {
  const keys: ForeignKey[] = [];
  const keep = (id: number, name: string, key: ForeignKey | LeftOut) => {
    if (key instanceof LeftOut) draft.omissions.push({ object: 'relation', id, name, ...key });
    else keys.push(key);
  };
  for (const constraint of draft.catalog.foreignKeys) {
    const source = draft.sources.get(constraint.tableId);
    const schema = source && draft.schemas.get(source.schemaId);
    if (!source || !schema) continue;
    const name = `${qualifiedName(schema.name, source.name)}.${constraint.name}`;
    keep(source.id, name, resolveConstraint(draft, constraint, name));
    yield;
  }
  for (const local of draft.tables.values()) {
    for (const [position, declared] of readForeignKeys(local.directive).entries()) {
      const name = `${qualifiedName(local.table.schema, local.table.name)}.foreign_keys[${position}]`;
      keep(local.table.id, name, resolveDeclared(draft, local, declared, name));
      yield;
    }
  }
  return keys;
}

function resolveConstraint(draft: Draft, constraint: CatalogForeignKey, name: string): ForeignKey | LeftOut {
  const local = draft.tables.get(constraint.tableId);
  if (!local) return new LeftOut('owner-left-out', 'its table is not in the API: see there');
  const target = draft.tables.get(constraint.targetId);
  if (!target || target.key === null)
    return new LeftOut('owner-left-out', `its target ${constraint.targetName} is not in the API: see there, or expose its schema`);
  const localColumns = constraint.columns.map((number) => columnByNumber(local.source, number));
  const targetColumns = constraint.targetColumns.map((number) => columnByNumber(target.source, number));
  const key = keyBetween(draft, name, local, localColumns, target, targetColumns, readDirective(constraint.comment));
  if (key instanceof LeftOut) return key;
  const certain = constraint.validated && key.localColumns.every((column) => column.notNull);
  // Row level security may hide the target.
  return { ...key, nullable: !certain || target.source.rowSecurity };
}

function resolveDeclared(draft: Draft, local: TableDraft, declared: DeclaredForeignKey | undefined, name: string): ForeignKey | LeftOut {
  if (!declared) {
    const reason = 'its directive is incomplete: it needs local_columns, foreign_schema, foreign_table and as many foreign_columns';
    return new LeftOut('unusable-directive', reason);
  }
  const { foreignSchema, foreignTable } = declared;
  const target = [...draft.tables.values()].find(({ table }) => table.schema === foreignSchema && table.name === foreignTable);
  if (!target || target.key === null) {
    const reason = `its target ${qualifiedName(foreignSchema, foreignTable)} is not in the API: correct the directive, or expose the table`;
    return new LeftOut('owner-left-out', reason);
  }
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
): ForeignKey | LeftOut {
  const [near, far] = [localColumns.filter(isPresent), targetColumns.filter(isPresent)];
  if (near.length < localColumns.length || far.length < targetColumns.length) {
    return new LeftOut('unusable-directive', 'its directive names columns that do not exist: correct it');
  }
  const hidden = whyHidden(draft, local, near) ?? whyHidden(draft, target, far);
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
  };
}

function whyHidden(draft: Draft, { source, table }: TableDraft, columns: readonly CatalogColumn[]): LeftOut | undefined {
  const hidden = columns.find((column) => !privilegesOn(draft, source, column).select);
  if (!hidden) return undefined;
  const name = `${qualifiedName(table.schema, table.name)}.${hidden.name}`;
  const reason = `the role ${draft.privileges.role} may not select the column ${name}: grant select on it to the role`;
  return notGranted(reason, 'select', source.id, hidden.name);
}

function isPresent(column: CatalogColumn | undefined): column is CatalogColumn {
  return column !== undefined;
}
