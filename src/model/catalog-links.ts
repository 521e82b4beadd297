/**
 * Foreign keys and functions by the tables that they concern, found once per catalog for all roles. A role's view of a table can then be
 * built without looking at all other tables.
 */
import type { Catalog, CatalogForeignKey, CatalogFunction, CatalogTable, CatalogViewForeignKey } from '../catalog/catalog.ts';
import { type DeclaredForeignKey, readDirective, readForeignKeys } from './directives.ts';

/** A foreign key of a constraint, of a table's directive, or inferred for a view; or the copy of a constraint for a partition. */
export type KeySource =
  | { readonly kind: 'copy'; readonly constraint: CatalogForeignKey }
  | { readonly kind: 'constraint'; readonly constraint: CatalogForeignKey }
  | { readonly kind: 'declared'; readonly table: CatalogTable; readonly position: number; readonly declared: DeclaredForeignKey }
  | { readonly kind: 'inferred'; readonly key: CatalogViewForeignKey };

/** The links of one table. Keys of constraints come first, then declared ones, then inferred ones, then copies. */
export interface TableLinks {
  /** Keys by which it refers to other tables. */
  readonly outgoing: readonly KeySource[];
  /** Keys by which other tables refer to it. */
  readonly incoming: readonly KeySource[];
  /** Functions whose only argument is a row of it. */
  readonly functions: readonly CatalogFunction[];
  /** The tables over whose rows a function returns rows of this one. */
  readonly returnedFor: readonly number[];
}

export interface CatalogLinks {
  readonly tables: ReadonlyMap<number, CatalogTable>;
  /** The id of a table of an exposed schema. */
  idOf(schema: string, name: string): number | undefined;
  of(tableId: number): TableLinks;
}

const none: TableLinks = { outgoing: [], incoming: [], functions: [], returnedFor: [] };
const known = new WeakMap<Catalog, CatalogLinks>();

/** The links of a catalog, cached. Yields while it finds them. */
export function* linkCatalog(catalog: Catalog): Generator<void, CatalogLinks> {
  const links = known.get(catalog) ?? (yield* findLinks(catalog));
  known.set(catalog, links);
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
  for (const [tableId, targetId, key] of keySources(catalog, idOf)) {
    at(tableId).outgoing.push(key);
    if (targetId !== undefined) at(targetId).incoming.push(key);
    yield;
  }
  for (const source of catalog.functions) {
    const [row, ...others] = source.arguments;
    const rowTableId = row && others.length === 0 ? catalog.types.get(row.typeId)?.relationId : undefined;
    if (!rowTableId) continue;
    at(rowTableId).functions.push(source);
    const resultTableId = catalog.types.get(source.resultTypeId)?.relationId;
    if (resultTableId) at(resultTableId).returnedFor.push(rowTableId);
    yield;
  }
  return { tables: new Map(catalog.tables.map((table) => [table.id, table])), idOf, of: (id) => links.get(id) ?? none };
}

function* keySources(
  catalog: Catalog,
  idOf: CatalogLinks['idOf'],
): Generator<readonly [tableId: number, targetId: number | undefined, KeySource], void> {
  for (const constraint of catalog.foreignKeys) yield [constraint.tableId, constraint.targetId, { kind: 'constraint', constraint }];
  for (const table of catalog.tables) {
    for (const [position, declared] of readForeignKeys(readDirective(table.comment)).entries()) {
      if (!declared) continue;
      const targetId = idOf(declared.foreignSchema, declared.foreignTable);
      yield [table.id, targetId, { kind: 'declared', table, position, declared }];
    }
  }
  for (const key of catalog.viewForeignKeys) yield [key.tableId, key.targetId, { kind: 'inferred', key }];
  for (const constraint of catalog.partitionKeys) yield [constraint.tableId, constraint.targetId, { kind: 'copy', constraint }];
}
