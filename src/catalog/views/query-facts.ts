/**
 * Infers facts about the rows of a query: which sets of columns are unique, and the origins of its columns. Needs the parts of the query,
 * and the same facts about its sources. Only certain facts count, because a key shared by two rows would give them the same identity.
 */
import type { ColumnReference, Equality, QueryOutput, QueryParts } from './query-parts.ts';

/** The table column that a query's column shows. */
export interface ColumnOrigin {
  /** Identifies the reading of the table, because a table may be read more than once. */
  readonly path: string;
  readonly tableId: number;
  /** The column number. */
  readonly column: number;
}

/** A column of a key, with the operator family and collation that define equality in the unique index. */
export interface KeyColumn {
  /** The column number. */
  readonly column: number;
  readonly family: number;
  readonly collation: number;
}

/** Facts about the rows of a table, view or subquery. */
export interface RowFacts {
  /** Null if none is known, or if not all its columns are visible. Key columns are never null. */
  readonly key: readonly KeyColumn[] | null;
  /** Sets of columns in which no two rows are equal, unless a column is null. Includes the key. */
  readonly unique: readonly (readonly KeyColumn[])[];
  /** Whether there is at most one row. */
  readonly single: boolean;
  originOf(column: number): ColumnOrigin | null;
  /** Why it has no key. */
  readonly problem: string | null;
}

/** A source of a query, with the facts about it. */
export interface QuerySource {
  readonly place: number;
  readonly name: string;
  readonly nullable: boolean;
  /** Whether its rows depend on those of other sources (`lateral`). */
  readonly dependent: boolean;
  readonly facts: RowFacts;
}

/** The clauses of a query that merge or multiply rows. */
export interface QueryShape {
  readonly combines: boolean;
  readonly aggregates: boolean;
  readonly groupingSets: boolean;
  readonly returnsSets: boolean;
  /** The references of `group by` and `distinct`; null if there is no such clause. */
  readonly groups: readonly number[] | null;
  readonly distinct: readonly number[] | null;
}

export type IsEquality = (operator: number, family: number) => boolean;

export const unknownFacts = (problem: string): RowFacts => ({ key: null, unique: [], single: false, originOf: () => null, problem });

/** Infers the facts about a query's rows. */
export function inferFacts(parts: QueryParts, shape: QueryShape, sources: readonly QuerySource[], isEquality: IsEquality): RowFacts {
  if (shape.combines) return unknownFacts('it combines the rows of several queries (union, intersect or except)');
  const shown = parts.outputs.filter(({ hidden }) => !hidden);
  const originOf = (number: number): ColumnOrigin | null => {
    const column = shown[number - 1]?.column ?? null;
    const source = column && sources.find(({ place }) => place === column.place);
    const origin = source?.facts.originOf(column!.column) ?? null;
    return origin && { ...origin, path: `${column!.place}.${origin.path}` };
  };
  const single = shape.aggregates && shape.groups === null && !shape.groupingSets && !shape.returnsSets;
  const needs = neededSources(parts, shape, sources);
  if (typeof needs === 'string') return { key: null, unique: [], single, originOf, problem: needs };
  const determine = (roots: readonly QuerySource[]) => determinedBy(roots, sources, parts.equalities, isEquality);
  const covers = (roots: readonly QuerySource[]): boolean => {
    const determined = determine(roots);
    return needs.every((place) => determined.has(place));
  };
  const candidates = sources.filter((source) => !source.nullable && !source.dependent);
  const roots = candidates.filter(({ place, facts }) => facts.key !== null && shownColumns(facts.key, place, shown) !== null);
  if (!covers(roots)) return { key: null, unique: [], single, originOf, problem: explain(roots, sources, needs, determine(roots)) };
  const fewest = roots.reduceRight<readonly QuerySource[]>(
    (kept, source) => (covers(without(kept, source)) ? without(kept, source) : kept),
    roots,
  );
  const key = fewest.flatMap(({ place, facts }) => shownColumns(facts.key!, place, shown)!).sort((one, other) => one.column - other.column);
  if (key.length === 0) return { key: null, unique: [], single, originOf, problem: 'it has a single row' };
  const alone = candidates.filter((source) => covers([source]));
  const unique = alone.flatMap(({ place, facts }) =>
    facts.unique.flatMap((columns) => [shownColumns(columns, place, shown) ?? []].filter(({ length }) => length > 0)),
  );
  return { key, unique: [key, ...unique], single, originOf, problem: null };
}

/** The sources whose rows together identify a row of the query, as few as possible; or why that is unknown. */
function neededSources({ outputs }: QueryParts, shape: QueryShape, sources: readonly QuerySource[]): readonly number[] | string {
  // They leave columns null, even those of keys, so that `distinct` does not help.
  if (shape.groupingSets) return 'it groups rows in several ways (grouping sets, rollup or cube)';
  const clause = shape.groups ?? (shape.aggregates ? [] : null);
  if (shape.distinct !== null) {
    const places = placesOf(shape.distinct, outputs);
    if (places !== null) return places;
    if (clause !== null || shape.returnsSets) return 'it shows an expression with distinct';
  }
  if (shape.returnsSets) return 'it calls a set-returning function in its select list';
  if (clause !== null) return placesOf(clause, outputs) ?? 'it groups rows by an expression';
  return sources.filter(({ facts }) => !facts.single).map(({ place }) => place);
}

/** The sources of the columns with these references; null if one is an expression. */
function placesOf(references: readonly number[], outputs: readonly QueryOutput[]): readonly number[] | null {
  const places = new Set<number>();
  for (const reference of references) {
    const output = outputs.find((candidate) => candidate.reference === reference);
    if (output === undefined || (output.column === null && !output.isConstant)) return null;
    if (output.column !== null) places.add(output.column.place);
  }
  return [...places];
}

/** The sources that have at most one row for each combination of rows of `roots`. */
function determinedBy(
  roots: readonly QuerySource[],
  sources: readonly QuerySource[],
  equalities: readonly Equality[],
  isEquality: IsEquality,
): ReadonlySet<number> {
  const determined = new Set([...roots, ...sources.filter(({ facts, dependent }) => facts.single && !dependent)].map(({ place }) => place));
  const isGiven = (place: number, { column, family, collation }: KeyColumn): boolean =>
    equalities.some(
      (equality) =>
        equality.column.place === place &&
        equality.column.column === column &&
        (equality.places === null || equality.places.has(place)) &&
        equality.collation === collation &&
        isEquality(equality.operator, family) &&
        (equality.other === null || determined.has(equality.other.place)),
    );
  for (let before = -1; before < determined.size; ) {
    before = determined.size;
    for (const { place, facts, dependent } of sources) {
      if (dependent || determined.has(place)) continue;
      if (facts.unique.some((columns) => columns.every((column) => isGiven(place, column)))) determined.add(place);
    }
  }
  return determined;
}

/** The key's columns as columns of the query; null if it does not show all of them. */
function shownColumns(key: readonly KeyColumn[], place: number, shown: readonly QueryOutput[]): readonly KeyColumn[] | null {
  const isShown = ({ column }: QueryOutput, of: ColumnReference): boolean => column?.place === of.place && column.column === of.column;
  const columns = key.map((column) => ({
    ...column,
    column: shown.findIndex((output) => isShown(output, { place, column: column.column })) + 1,
  }));
  return columns.every(({ column }) => column > 0) ? columns : null;
}

function without(sources: readonly QuerySource[], source: QuerySource): readonly QuerySource[] {
  return sources.filter((other) => other !== source);
}

function explain(
  roots: readonly QuerySource[],
  sources: readonly QuerySource[],
  needs: readonly number[],
  determined: ReadonlySet<number>,
): string {
  const missing = sources.filter(({ place }) => needs.includes(place) && !determined.has(place));
  const unknown = missing.find(({ facts }) => facts.key === null);
  if (unknown?.facts.problem) return `it reads ${unknown.name}: ${unknown.facts.problem}`;
  const names = missing.map(({ name }) => name).join(', ');
  if (roots.length === 0)
    return `it does not show the primary key of ${names}${missing.length > 1 ? ', or of one of them on which the others depend' : ''}`;
  const nullable = missing.some((source) => source.nullable);
  return `it may have several rows for one of ${roots.map(({ name }) => name).join(', ')}: those of ${names}${nullable ? ', which an outer join may leave out' : ''}`;
}
