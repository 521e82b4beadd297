/**
 * The unique indexes that can settle a conflict. In: those of a table; out: how `on conflict` has to say each. PostgreSQL takes every index whose definition
 * fits what is said, so one that cannot be told from another is left out.
 */
import type { CatalogArbiter } from './catalog.ts';
import type { RawCatalog, RawUniqueIndex, RawUniqueIndexDefinition, RawUniqueIndexKinds } from './raw-catalog.ts';

interface UniqueIndex {
  readonly name: string;
  readonly immediate: boolean;
  /** Its columns, 0 for an expression. */
  readonly keys: readonly number[];
  /** Null for the index of a constraint. */
  readonly definition: RawUniqueIndexDefinition | null;
  /** Its columns and expressions in an order of their own, those with their collations, and those with their operator classes too. */
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

/** A constraint has a name to be called by. What fits the definition of an index has to be the same index in all but its name. */
function canArbitrate(index: UniqueIndex, all: readonly UniqueIndex[]): boolean {
  if (!index.immediate || index.definition === null) return index.immediate;
  return all.filter((other) => other !== index && isInferredWith(index, other)).every((other) => isEqual(index, other));
}

/** Whether the definition of `index` fits the other as well. The conditions of two indexes count as independent if they differ. */
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
  // A whole row is called by the name of its table, which an insert gives an alias.
  if (read.has(0)) return [];
  // Only a collation tells it from another index of the same columns.
  const needsCollations = all.some((other) => other.elements === elements && other.collated !== collated);
  const texts = parts.map(([sql, collation]) => (needsCollations && collation !== '-' ? `${sql} collate ${collation}` : sql));
  return { name, columns: [...read], inference: { elements: texts, condition } };
}

/** The columns in expressions, 0 for a whole row, as PostgreSQL writes them out: `{VAR :varno 1 :varattno 3 …}`. */
function columnsIn(nodes: string): number[] {
  return [...nodes.matchAll(/:varattno (-?\d+)/g)].map(([, number]) => Number(number));
}
