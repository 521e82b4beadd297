/** Assembles tables with their columns and indexes from the rows of the catalog query. */
import type { CatalogArbiter, CatalogColumn, CatalogIndex, CatalogTable, CatalogType } from './catalog.ts';
import type { Effects } from './effects/find-effects.ts';
import type { Placements } from './load-placements.ts';
import type { CatalogComments, RawCatalog, RawColumn, RawColumnNumber, RawIndexDefinition, RawUniqueIndex } from './raw-catalog.ts';

export function* assembleTables(
  raw: RawCatalog,
  comments: CatalogComments,
  types: ReadonlyMap<number, CatalogType>,
  effects: Effects,
  placements: Placements,
): Generator<void, CatalogTable[]> {
  const columns = yield* groupByTable(raw.columns);
  const indexes = yield* groupByTable(raw.indexes);
  const toColumn = columnAssembler(raw, comments, types);
  const arbiters = assembleArbiters(raw, yield* groupByTable(raw.uniqueIndexes));
  const roleIndependent = new Set(raw.roleIndependent.map(({ id }) => id));
  const tables: CatalogTable[] = [];
  for (const { writable, ...table } of raw.tables) {
    const { id } = table;
    tables.push({
      ...table,
      canUpdate: (writable & 4) !== 0,
      canInsert: (writable & 8) !== 0,
      canDelete: (writable & 16) !== 0,
      comment: comments.on('relation', id),
      roleIndependent: roleIndependent.has(id),
      readEffects: effects.ofReading(id),
      writeEffects: effects.ofWriting(id),
      placement: placements.tables.get(id) ?? null,
      columns: (columns.get(id) ?? []).map(toColumn),
      indexes: (indexes.get(id) ?? []).map(toIndex),
      arbiters: arbiters(id),
    });
    yield;
  }
  return tables;
}

/** Groups rows by table id, keeping their order. Yields at each new table. */
function* groupByTable<Row extends { readonly tableId: number }>(
  rows: readonly Row[],
): Generator<void, ReadonlyMap<number, readonly Row[]>> {
  const groups = new Map<number, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.tableId);
    if (group) {
      group.push(row);
      continue;
    }
    groups.set(row.tableId, [row]);
    yield;
  }
  return groups;
}

const noIndexes: CatalogColumn['distanceIndexes'] = [];

function columnAssembler(
  raw: RawCatalog,
  comments: CatalogComments,
  types: ReadonlyMap<number, CatalogType>,
): (column: RawColumn) => CatalogColumn {
  const keyOf = ({ tableId, number }: RawColumnNumber): string => `${tableId} ${number}`;
  const sequences = new Set(raw.sequences.map(keyOf));
  const unproven = new Set(raw.unproven.map(keyOf));
  const shownTypes = new Map(raw.types.map(({ id, shown }) => [id, shown]));
  const searchConfigs = new Map(raw.searchVectors.map((vector) => [keyOf(vector), vector.config]));
  const collations = new Map(raw.collations.map(({ id, sql }) => [id, sql]));
  const distanceIndexes = Map.groupBy(raw.distanceIndexes, keyOf);
  return ({ tableId, shownType, fullDomain, collationId, ...column }) => {
    const { number, typeId, notNull, automatic } = column;
    const key = keyOf({ tableId, number });
    return {
      ...column,
      modifiedType: modifiedType(types.get(typeId), shownType, shownTypes.get(typeId)),
      notNull: notNull && !unproven.has(key),
      collation: collations.get(collationId) ?? null,
      distanceIndexes: distanceIndexes.get(key) ?? noIndexes,
      automatic: automatic || sequences.has(key),
      refusesNull: notNull || fullDomain,
      searchConfig: searchConfigs.get(key) ?? null,
      comment: comments.on('relation', tableId, number),
    };
  };
}

/**
 * Qualifies a type that has a modifier: `geometry(Point,4326)`, which PostgreSQL qualifies or not depending on the search path, becomes
 * `gis.geometry(Point,4326)`. Types in pg_catalog stay as they are, because the modifier may be in the middle:
 * `timestamp(3) with time zone`.
 */
export function modifiedType(type: CatalogType | undefined, shown: string | null, shownWithout: string | undefined): string | null {
  if (shown === null || !type || type.schema === 'pg_catalog') return shown;
  const brackets = type.elementId === 0 ? 0 : '[]'.length;
  return type.sql.slice(0, type.sql.length - brackets) + shown.slice((shownWithout?.length ?? 0) - brackets);
}

/** Columns beyond `keyCount` are not part of the key (`include`); 0 stands for an expression. */
function toIndex({ tableId: _, keyCount, ...index }: RawCatalog['indexes'][number]): CatalogIndex {
  const keys = index.columns.slice(0, keyCount);
  const firstExpression = keys.indexOf(0);
  return { ...index, columns: firstExpression < 0 ? keys : keys.slice(0, firstExpression) };
}

interface UniqueIndex {
  readonly name: string;
  readonly immediate: boolean;
  /** Key column numbers; 0 for an expression. */
  readonly keys: readonly number[];
  /** Null for the index of a constraint. */
  readonly definition: RawIndexDefinition | null;
  /** Its key columns and expressions, sorted and serialized; `collated` adds their collations, `classed` their operator classes too. */
  readonly elements: string;
  readonly collated: string;
  readonly classed: string;
}

/**
 * Finds the arbiters of a table by its id: the unique indexes that `on conflict` can name unambiguously, and the SQL that names each.
 * PostgreSQL infers every index that matches a conflict target, so an index that cannot be told apart from another is left out.
 */
function assembleArbiters(
  raw: RawCatalog,
  indexesByTable: ReadonlyMap<number, readonly RawUniqueIndex[]>,
): (tableId: number) => readonly CatalogArbiter[] {
  const names = new Map(raw.uniqueIndexNames.map(({ id, name }) => [id, name]));
  const kinds = new Map(raw.uniqueIndexKinds.map((each) => [each.id, each]));
  const definitions = new Map(raw.uniqueIndexDefinitions.map((each) => [each.id, each]));
  const toUniqueIndex = ({ id, immediate, keyCount, columns }: RawUniqueIndex): UniqueIndex => {
    const definition = definitions.get(id) ?? null;
    const { collations, classes } = kinds.get(id) ?? {};
    const keys = columns.slice(0, keyCount);
    const texts = keys.map((number, position) => (number === 0 ? definition?.elements[position]?.[0] : number));
    const list = (describe: (position: number) => unknown) =>
      JSON.stringify(keys.map((_, position) => JSON.stringify(describe(position))).sort());
    return {
      name: names.get(id) ?? '',
      immediate,
      keys,
      definition,
      elements: list((position) => texts[position]),
      collated: list((position) => [texts[position], collations?.[position]]),
      classed: list((position) => [texts[position], collations?.[position], classes?.[position]]),
    };
  };
  return (tableId) => {
    const indexes = (indexesByTable.get(tableId) ?? []).map(toUniqueIndex);
    return indexes.filter((index) => canArbitrate(index, indexes)).flatMap((index) => toArbiter(index, indexes));
  };
}

/** A constraint can be named. Any other index that matches the definition from which an index is inferred must be equivalent. */
function canArbitrate(index: UniqueIndex, all: readonly UniqueIndex[]): boolean {
  if (!index.immediate || index.definition === null) return index.immediate;
  return all.every((other) => other === index || !isInferredWith(index, other) || isEqual(index, other));
}

/** Whether PostgreSQL would also infer `other` from the definition of `index`. Conditions that differ are taken to not imply each other. */
function isInferredWith(index: UniqueIndex, other: UniqueIndex): boolean {
  const condition = other.definition?.condition ?? null;
  return index.collated === other.collated && (condition === null || condition === index.definition?.condition);
}

function isEqual(index: UniqueIndex, other: UniqueIndex): boolean {
  const describe = ({ classed, definition }: UniqueIndex): string =>
    JSON.stringify([classed, definition?.condition ?? null, definition?.nullsNotDistinct ?? false]);
  return other.immediate && describe(index) === describe(other);
}

function toArbiter({ name, keys, definition, elements, collated }: UniqueIndex, all: readonly UniqueIndex[]): CatalogArbiter | [] {
  if (definition === null) return { name, columns: keys, inference: null };
  // Column numbers (0 for the whole row) in a serialized expression tree: `{VAR :varno 1 :varattno 3 …}`.
  const inExpressions = [...definition.nodes.matchAll(/:varattno (-?\d+)/g)].map(([, number]) => Number(number));
  const read = new Set([...keys.filter((number) => number !== 0), ...inExpressions]);
  // An expression on the whole row refers to it by the table's name, but the insert gives the table an alias.
  if (read.has(0)) return [];
  // Only the collations distinguish it from another index on the same columns.
  const needsCollations = all.some((other) => other.elements === elements && other.collated !== collated);
  const texts = definition.elements.map(([sql, collation]) => (needsCollations && collation !== '-' ? `${sql} collate ${collation}` : sql));
  return { name, columns: [...read], inference: { elements: texts, condition: definition.condition } };
}
