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
  readonly column: number;
}

/** A column of a key, with the operator family and collation that define equality in the unique index. */
export interface KeyColumn {
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
  readonly single: boolean;
  originOf(column: number): ColumnOrigin | null;
  isNeverNull(column: number): boolean;
  readonly problem: string | null;
}

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
  /** What `group by` and `distinct` name; null if there is no such clause. */
  readonly groups: readonly GroupedBy[] | null;
  readonly distinct: readonly GroupedBy[] | null;
}

/** An output that rows are grouped by, and the operator that tells whether its values are equal. */
export interface GroupedBy {
  readonly reference: number;
  readonly operator: number;
}

export interface Operators {
  isEquality(operator: number, family: number): boolean;
  /** A family in which the operator means equality. */
  familyOf(operator: number): number | undefined;
  /** Whether values that the operator finds equal are the same. */
  isExact(operator: number, column: Pick<QueryOutput, 'collation' | 'modifier'>): boolean;
}

export const unknownFacts = (problem: string): RowFacts => ({
  ...{ key: null, unique: [], single: false, problem },
  originOf: () => null,
  isNeverNull: () => false,
});

export function inferFacts(parts: QueryParts, shape: QueryShape, sources: readonly QuerySource[], operators: Operators): RowFacts {
  if (shape.combines) return unknownFacts('it combines the rows of several queries (union, intersect or except)');
  const columns = factsOfColumns(parts, shape, sources);
  const single = shape.aggregates && shape.groups === null && !shape.groupingSets && !shape.returnsSets;
  const grouped = groupedColumns(parts, shape, columns.isNeverNull, operators);
  const bySources = keyOfSources(parts, shape, sources, operators);
  if (!('problem' in bySources) && bySources.key.length === 0) return { ...singleRow(parts, columns.isNeverNull), ...columns };
  if (!('problem' in bySources))
    return { ...bySources, unique: [...bySources.unique, ...grouped.unique], single, problem: null, ...columns };
  const { key, unique } = grouped;
  return { key, unique, single, problem: key === null ? (grouped.problem ?? bySources.problem) : null, ...columns };
}

/** Where the columns of a query come from, and whether they are never null. */
function factsOfColumns(
  { outputs, notNull }: QueryParts,
  { groupingSets }: QueryShape,
  sources: readonly QuerySource[],
): Pick<RowFacts, 'originOf' | 'isNeverNull'> {
  const shown = outputs.filter(({ hidden }) => !hidden);
  const sourceOf = (column: ColumnReference | null) => column && sources.find(({ place }) => place === column.place);
  return {
    originOf(number) {
      const column = shown[number - 1]?.column ?? null;
      const origin = sourceOf(column)?.facts.originOf(column!.column) ?? null;
      return origin && { ...origin, path: `${column!.place}.${origin.path}` };
    },
    isNeverNull(number) {
      const output = shown[number - 1];
      // Grouping sets leave columns null.
      if (output === undefined || groupingSets) return false;
      const { column, neverNull } = output;
      const source = sourceOf(column);
      if (!column || !source) return neverNull;
      const isTested = notNull.some((tested) => tested.place === column.place && tested.column === column.column);
      // An expression may have another value the next time.
      const isStored = source.facts.originOf(column.column) !== null;
      return !source.nullable && ((isTested && isStored) || source.facts.isNeverNull(column.column));
    },
  };
}

/** The only row needs no key to be told from others, but an identifier needs a value. */
function singleRow({ outputs }: QueryParts, isNeverNull: RowFacts['isNeverNull']): Pick<RowFacts, 'key' | 'unique' | 'single' | 'problem'> {
  const shown = outputs.filter(({ hidden }) => !hidden);
  const column = shown.findIndex((_, index) => isNeverNull(index + 1)) + 1;
  if (column === 0)
    return {
      key: null,
      unique: [],
      single: true,
      problem: 'it has a single row, and no column that is certain not to be null, such as count(*)',
    };
  const key = [{ column, family: 0, collation: 0 }];
  return { key, unique: [key], single: true, problem: null };
}

/**
 * The columns that `distinct` or `group by` names, if the query shows them all: no two rows are equal in them. They are a key if none can be
 * null and equal values are the same, because a group shows any one of its equal values.
 */
function groupedColumns(
  { outputs }: QueryParts,
  shape: QueryShape,
  isNeverNull: RowFacts['isNeverNull'],
  operators: Operators,
): Pick<RowFacts, 'key' | 'unique' | 'problem'> {
  const none = { key: null, unique: [], problem: null };
  const clause = shape.distinct ?? (shape.returnsSets ? null : shape.groups);
  if (clause === null || shape.groupingSets) return none;
  const shown = outputs.filter(({ hidden }) => !hidden);
  const columns: KeyColumn[] = [];
  let problem: string | null = null;
  for (const { reference, operator } of clause) {
    const output = outputs.find((candidate) => candidate.reference === reference);
    if (output?.isConstant) continue;
    const column = output === undefined ? 0 : shown.indexOf(output) + 1;
    const family = operators.familyOf(operator);
    if (output === undefined || output.column === null || column === 0 || family === undefined) return none;
    if (!isNeverNull(column)) problem ??= 'it groups rows by a column that may be null; "where … is not null" excludes that';
    if (!operators.isExact(operator, output)) problem ??= 'it groups rows by a column whose equal values may differ, such as 1.0 and 1.00';
    columns.push({ column, family, collation: output.collation });
  }
  if (columns.length === 0) return none;
  const inOrder = columns.sort((one, other) => one.column - other.column);
  return { key: problem === null ? inOrder : null, unique: [inOrder], problem };
}

/** The keys of the sources that together identify a row of the query, and other unique columns; or why there is no such key. */
function keyOfSources(
  parts: QueryParts,
  shape: QueryShape,
  sources: readonly QuerySource[],
  operators: Operators,
): { readonly key: readonly KeyColumn[]; readonly unique: RowFacts['unique'] } | { readonly problem: string } {
  const shown = parts.outputs.filter(({ hidden }) => !hidden);
  const needs = neededSources(parts, shape, sources);
  if (typeof needs === 'string') return { problem: needs };
  const determine = (roots: readonly QuerySource[]) => determinedBy(roots, sources, parts.equalities, operators);
  const covers = (roots: readonly QuerySource[]): boolean => {
    const determined = determine(roots);
    return needs.every((place) => determined.has(place));
  };
  const candidates = sources.filter((source) => !source.nullable && !source.dependent);
  const roots = candidates.filter(({ place, facts }) => facts.key !== null && shownColumns(facts.key, place, shown) !== null);
  if (!covers(roots)) return { problem: explain(roots, sources, needs, determine(roots)) };
  const fewest = roots.reduceRight<readonly QuerySource[]>(
    (kept, source) => (covers(without(kept, source)) ? without(kept, source) : kept),
    roots,
  );
  const key = fewest.flatMap(({ place, facts }) => shownColumns(facts.key!, place, shown)!).sort((one, other) => one.column - other.column);
  const alone = candidates.filter((source) => covers([source]));
  const unique = alone.flatMap(({ place, facts }) =>
    facts.unique.flatMap((columns) => [shownColumns(columns, place, shown) ?? []].filter(({ length }) => length > 0)),
  );
  return { key, unique: [key, ...unique] };
}

/** The sources whose rows together identify a row of the query, as few as possible; or why that is unknown. */
function neededSources({ outputs }: QueryParts, shape: QueryShape, sources: readonly QuerySource[]): readonly number[] | string {
  // They leave columns null, even those of keys, so that `distinct` does not help.
  if (shape.groupingSets) return 'it groups rows in several ways (grouping sets, rollup or cube)';
  const clause = shape.groups ?? (shape.aggregates ? [] : null);
  if (shape.distinct !== null) {
    const places = sourcesNamed(shape.distinct, outputs);
    if (places !== null) return places;
    if (clause !== null || shape.returnsSets) return 'it shows an expression with distinct';
  }
  if (shape.returnsSets) return 'it calls a set-returning function in its select list';
  if (clause !== null) return sourcesNamed(clause, outputs) ?? 'it groups rows by an expression';
  return sources.filter(({ facts }) => !facts.single).map(({ place }) => place);
}

/** The sources of the columns that the clause names; null if one is an expression. */
function sourcesNamed(clause: readonly GroupedBy[], outputs: readonly QueryOutput[]): readonly number[] | null {
  const places = new Set<number>();
  for (const { reference } of clause) {
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
  operators: Operators,
): ReadonlySet<number> {
  const determined = new Set([...roots, ...sources.filter(({ facts, dependent }) => facts.single && !dependent)].map(({ place }) => place));
  const isGiven = (place: number, { column, family, collation }: KeyColumn): boolean =>
    equalities.some(
      (equality) =>
        equality.column.place === place &&
        equality.column.column === column &&
        (equality.places === null || equality.places.has(place)) &&
        equality.collation === collation &&
        operators.isEquality(equality.operator, family) &&
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
