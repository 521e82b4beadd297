/** Assembles tables with their columns and indexes from the result of the catalog query. */
import type { CatalogArbiter, CatalogColumn, CatalogIndex, CatalogTable, CatalogType } from './catalog.ts';
import type { Effects } from './effects/find-effects.ts';
import type { CatalogComments } from './load-catalog.ts';
import type {
  RawCatalog,
  RawColumn,
  RawColumnNumber,
  RawIndex,
  RawTable,
  RawUniqueIndex,
  RawUniqueIndexDefinition,
  RawUniqueIndexKinds,
} from './raw-rows.ts';

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

interface UniqueIndex {
  readonly name: string;
  readonly immediate: boolean;
  /** Key column numbers; 0 for an expression. */
  readonly keys: readonly number[];
  /** Null for the index of a constraint. */
  readonly definition: RawUniqueIndexDefinition | null;
  /**
   * Its key columns and expressions, sorted and serialized for comparison; `collated` adds their collations, `classed` their operator
   * classes too.
   */
  readonly elements: string;
  readonly collated: string;
  readonly classed: string;
}

/**
 * Finds the arbiters of a table by its id: the unique indexes that `on conflict` can name unambiguously, and the SQL that names each.
 * PostgreSQL infers every index that matches a conflict target, so an index that cannot be told apart from another is left out.
 */
export function assembleArbiters(
  raw: RawCatalog,
  indexesByTable: ReadonlyMap<number, readonly RawUniqueIndex[]>,
): (tableId: number) => readonly CatalogArbiter[] {
  const names = new Map(raw.uniqueIndexNames);
  const kinds = new Map(raw.uniqueIndexKinds.map((each) => [each[0], each]));
  const definitions = new Map(raw.uniqueIndexDefinitions.map((each) => [each[0], each]));
  return (tableId) => {
    const indexes = (indexesByTable.get(tableId) ?? []).map((each) => {
      return toUniqueIndex(each, names.get(each[1]) ?? '', kinds.get(each[1]), definitions.get(each[1]) ?? null);
    });
    return indexes.flatMap((index) => (canArbitrate(index, indexes) ? toArbiter(index, indexes) : []));
  };
}

function toUniqueIndex(
  [, , , immediate, keyCount, columns]: RawUniqueIndex,
  name: string,
  [, collations, classes]: RawUniqueIndexKinds | readonly [] = [],
  definition: RawUniqueIndexDefinition | null,
): UniqueIndex {
  const keys = columns.slice(0, keyCount);
  const texts = keys.map((number, position) => (number === 0 ? definition?.[1][position]?.[0] : number));
  const list = (describe: (position: number) => unknown) =>
    JSON.stringify(keys.map((_, position) => JSON.stringify(describe(position))).sort());
  return {
    name,
    immediate,
    keys,
    definition,
    elements: list((position) => texts[position]),
    collated: list((position) => [texts[position], collations?.[position]]),
    classed: list((position) => [texts[position], collations?.[position], classes?.[position]]),
  };
}

/**
 * A constraint can be named. An index is inferred from its definition, so any other index that matches the definition must be equivalent.
 */
function canArbitrate(index: UniqueIndex, all: readonly UniqueIndex[]): boolean {
  if (!index.immediate || index.definition === null) return index.immediate;
  return all.filter((other) => other !== index && isInferredWith(index, other)).every((other) => isEqual(index, other));
}

/** Whether PostgreSQL would also infer `other` from the definition of `index`. Conditions that differ are taken to not imply each other. */
function isInferredWith(index: UniqueIndex, other: UniqueIndex): boolean {
  const condition = conditionOf(other);
  return index.collated === other.collated && (condition === null || condition === conditionOf(index));
}

function isEqual(index: UniqueIndex, other: UniqueIndex): boolean {
  const nulls = ({ definition }: UniqueIndex) => definition?.[4] ?? false;
  return other.immediate && index.classed === other.classed && conditionOf(index) === conditionOf(other) && nulls(index) === nulls(other);
}

function conditionOf({ definition }: UniqueIndex): string | null {
  return definition?.[2] ?? null;
}

function toArbiter({ name, keys, definition, elements, collated }: UniqueIndex, all: readonly UniqueIndex[]): CatalogArbiter | [] {
  if (definition === null) return { name, columns: keys, inference: null };
  const [, parts, condition, nodes] = definition;
  const read = new Set([...keys.filter((number) => number !== 0), ...columnsIn(nodes)]);
  // An expression on the whole row refers to it by the table's name, but the insert gives the table an alias.
  if (read.has(0)) return [];
  // Only the collations distinguish it from another index on the same columns.
  const needsCollations = all.some((other) => other.elements === elements && other.collated !== collated);
  const texts = parts.map(([sql, collation]) => (needsCollations && collation !== '-' ? `${sql} collate ${collation}` : sql));
  return { name, columns: [...read], inference: { elements: texts, condition } };
}

/** Column numbers (0 for the whole row) in a serialized expression tree: `{VAR :varno 1 :varattno 3 …}`. */
function columnsIn(nodes: string): number[] {
  return [...nodes.matchAll(/:varattno (-?\d+)/g)].map(([, number]) => Number(number));
}
