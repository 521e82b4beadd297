/**
 * Finds the unique indexes of a table that `on conflict` can name unambiguously, and the SQL that names each. PostgreSQL infers every index
 * that matches a conflict target, so an index that cannot be told apart from another is left out.
 */
import type { CatalogArbiter } from './catalog.ts';
import type { RawCatalog, RawUniqueIndex, RawUniqueIndexDefinition, RawUniqueIndexKinds } from './raw-catalog.ts';

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

/** Finds the arbiters of a table by its id. */
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
