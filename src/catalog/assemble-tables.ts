/** Assembles tables with their columns and indexes from the result of the catalog query. */
import { assembleArbiters } from './assemble-arbiters.ts';
import type { CatalogColumn, CatalogIndex, CatalogTable, CatalogType } from './catalog.ts';
import type { CatalogComments } from './catalog-comments.ts';
import type { Effects } from './effects/find-effects.ts';
import type { RawCatalog, RawColumn, RawColumnNumber, RawIndex, RawTable } from './raw-catalog.ts';

/** Assembles the tables in order of id, yielding after each. */
export function* assembleTables(
  raw: RawCatalog,
  comments: CatalogComments,
  types: ReadonlyMap<number, CatalogType>,
  effects: Effects,
): Generator<void, CatalogTable[]> {
  const columns = yield* groupByTable(raw.columns);
  const sequences = yield* groupByTable(raw.sequences);
  const unproven = yield* groupByTable(raw.unproven);
  const indexes = yield* groupByTable(raw.indexes);
  const arbiters = assembleArbiters(raw, yield* groupByTable(raw.uniqueIndexes));
  const shownTypes = new Map(raw.types.map((type) => [type[0], type[8]]));
  const modifiedTypeOf = (typeId: number, shown: string | null) => modifiedType(types.get(typeId), shown, shownTypes.get(typeId));
  const collations = new Map(raw.collations);
  const roleIndependent = new Set(raw.roleIndependent);
  const tables: CatalogTable[] = [];
  for (const table of raw.tables) {
    const id = table[0];
    const ownColumns = (columns.get(id) ?? []).map((column): CatalogColumn => {
      const [, number, name, typeId, maxLength, shownType, notNull, automatic, generatedAlways, hasDefault, fullDomain, collationId] =
        column;
      return {
        number,
        name,
        typeId,
        maxLength,
        modifiedType: modifiedTypeOf(typeId, shownType),
        notNull: notNull && !includesColumn(unproven.get(id), column),
        collation: collations.get(collationId) ?? null,
        automatic: automatic || includesColumn(sequences.get(id), column),
        generatedAlways,
        hasDefault,
        refusesNull: notNull || fullDomain,
        comment: comments.onColumn(id, number),
      };
    });
    const ownIndexes = { indexes: (indexes.get(id) ?? []).map(toIndex), arbiters: arbiters(id) };
    tables.push({
      ...toTable(table, comments.on('relation', id)),
      roleIndependent: roleIndependent.has(id),
      readEffects: effects.ofReading(id),
      writeEffects: effects.ofWriting(id),
      columns: ownColumns,
      ...ownIndexes,
    });
    yield;
  }
  return tables;
}

/** Groups rows by table id, keeping their order. Yields at each new table. */
function* groupByTable<Row extends readonly [tableId: number, ...unknown[]]>(
  rows: readonly Row[],
): Generator<void, ReadonlyMap<number, readonly Row[]>> {
  const groups = new Map<number, Row[]>();
  for (const row of rows) {
    const group = groups.get(row[0]);
    if (group) {
      group.push(row);
      continue;
    }
    groups.set(row[0], [row]);
    yield;
  }
  return groups;
}

/**
 * Qualifies a type that has a modifier: `geometry(Point,4326)`, which PostgreSQL qualifies or not depending on the search path, becomes
 * `gis.geometry(Point,4326)`. Types in pg_catalog stay as they are, because the modifier may be in the middle:
 * `timestamp(3) with time zone`.
 */
function modifiedType(type: CatalogType | undefined, shown: string | null, shownWithout: string | undefined): string | null {
  if (shown === null || !type || type.schema === 'pg_catalog') return shown;
  const brackets = type.elementId === 0 ? 0 : '[]'.length;
  return type.sql.slice(0, type.sql.length - brackets) + shown.slice((shownWithout?.length ?? 0) - brackets);
}

function includesColumn(numbers: readonly RawColumnNumber[] | undefined, [, number]: RawColumn): boolean {
  return numbers?.some((pair) => pair[1] === number) ?? false;
}

/** `pg_relation_is_updatable` sets bit 2 for update, 3 for insert and 4 for delete: PostgreSQL's numbers for these commands. */
function toTable(
  raw: RawTable,
  comment: string | null,
): Omit<CatalogTable, 'roleIndependent' | 'readEffects' | 'writeEffects' | 'columns' | 'indexes' | 'arbiters'> {
  const [id, schemaId, name, kind, rowSecurity, options, hasChildren, keepsNotNull, writable, fillsColumns, runsBeforeInsert] = raw;
  return {
    id,
    schemaId,
    name,
    kind,
    rowSecurity,
    // PostgreSQL stores a boolean option as the user wrote it.
    securityInvoker: options?.some((option) => /^security_invoker=(t|tr|tru|true|y|ye|yes|on|1)$/i.test(option)) ?? false,
    hasChildren,
    keepsNotNull,
    canUpdate: (writable & 4) !== 0,
    canInsert: (writable & 8) !== 0,
    canDelete: (writable & 16) !== 0,
    fillsColumns,
    runsBeforeInsert,
    comment,
  };
}

/** Columns beyond `keyCount` are not part of the key (`include`); 0 stands for an expression. */
function toIndex([, primary, unique, immediate, keyCount, columns, movesNulls]: RawIndex): CatalogIndex {
  const keys = columns.slice(0, keyCount);
  const firstExpression = keys.indexOf(0);
  return { primary, unique, immediate, columns: firstExpression < 0 ? keys : keys.slice(0, firstExpression), movesNulls };
}
