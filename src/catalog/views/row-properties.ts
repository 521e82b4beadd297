/**
 * Infers which sets of columns are unique in the rows of a query, and the origins of its columns, from the same properties of the items of
 * its FROM clause. Only what is certain counts, because a key shared by two rows would give them the same identity.
 */
import type { ColumnReference } from './expressions.ts';
import type { Equality, QueryOutput, QueryParts } from './query-parts.ts';

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
  /** Of a key, in which nulls are equal. */
  readonly mayBeNull?: true;
}

/** Of the rows of a table, view or subquery. */
export interface RowProperties {
  /** Null if none is known, or if not all its columns are visible. */
  readonly key: readonly KeyColumn[] | null;
  /** Sets of columns in which no two rows are equal, unless a column is null. Includes the key. */
  readonly unique: readonly (readonly KeyColumn[])[];
  readonly single: boolean;
  /** Whether any column is a key, because it has a single row, which is computed from others. */
  readonly isSummary: boolean;
  originOf(column: number): ColumnOrigin | null;
  isNeverNull(column: number): boolean;
  /** Whether its values are the same each time that the same rows are read. */
  isStable(column: number): boolean;
  /** All that it shows, if these are constants other than null of its type: their bytes. */
  constantsOf(column: number): ReadonlySet<string> | null;
  readonly problem: string | null;
}

export interface InferredItem {
  readonly position: number;
  readonly name: string;
  readonly nullable: boolean;
  readonly nulledBy: ReadonlySet<number>;
  /** Whether its rows depend on those of other items (`lateral`). */
  readonly dependent: boolean;
  readonly properties: RowProperties;
}

/** The clauses of a query that merge or multiply rows. */
export interface QueryShape {
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
  /** The type that a domain is over, and `text` for `varchar`: the values are the same. */
  baseOf(type: number): number;
  /** The family by which values of a type are compared unless a query says otherwise. */
  familyOfType(type: number): number | undefined;
  /** Whether constants of a type are equal only if their bytes are. */
  isExactType(type: number, collation: number): boolean;
}

/** What cannot tell rows from each other. */
export const unsuitable = {
  unstable: 'an expression whose values may be others each time, such as a function of your own',
  inexact: 'a column whose equal values may differ, such as 1.0 and 1.00',
};

export const unknownProperties = (problem: string): RowProperties => ({
  ...{ key: null, unique: [], single: false, isSummary: false, problem },
  originOf: () => null,
  isNeverNull: () => false,
  isStable: () => false,
  constantsOf: () => null,
});

export function inferProperties(parts: QueryParts, shape: QueryShape, items: readonly InferredItem[], operators: Operators): RowProperties {
  const columns = propertiesOfColumns(parts, shape, items);
  const single = shape.aggregates && shape.groups === null && !shape.groupingSets && !shape.returnsSets;
  const grouped = groupedColumns(parts, shape, columns, operators);
  const byItems = keyOfItems(parts, shape, items, operators);
  if (!('problem' in byItems) && byItems.key.length === 0) {
    const isSummary = items.length > 0 || shape.aggregates;
    return { ...singleRow(parts, columns.isNeverNull), isSummary, ...columns };
  }
  const others = { single, isSummary: false, ...columns };
  if (!('problem' in byItems)) return { ...byItems, unique: [...byItems.unique, ...grouped.unique], problem: null, ...others };
  const { key, unique } = grouped;
  return { key, unique, problem: key === null ? (grouped.problem ?? byItems.problem) : null, ...others };
}

/** Where the columns of a query come from, and whether they are never null. */
function propertiesOfColumns(
  { outputs, notNull }: QueryParts,
  { groupingSets }: QueryShape,
  items: readonly InferredItem[],
): Pick<RowProperties, 'originOf' | 'isNeverNull' | 'isStable' | 'constantsOf'> {
  const shown = outputs.filter(({ hidden }) => !hidden);
  const itemOf = (column: ColumnReference | null) => column && items.find(({ position }) => position === column.position);
  return {
    originOf(number) {
      const column = shown[number - 1]?.column ?? null;
      const origin = itemOf(column)?.properties.originOf(column!.column) ?? null;
      return origin && { ...origin, path: `${column!.position}.${origin.path}` };
    },
    isStable: (number) => shown[number - 1]?.reads?.every((column) => itemOf(column)?.properties.isStable(column.column)) ?? false,
    constantsOf(number) {
      const output = shown[number - 1];
      if (output === undefined || groupingSets) return null;
      if (output.constant !== null) return new Set([output.constant]);
      const item = itemOf(output.column);
      return item && !item.nullable ? item.properties.constantsOf(output.column!.column) : null;
    },
    isNeverNull(number) {
      const output = shown[number - 1];
      // Grouping sets leave columns null.
      if (output === undefined || groupingSets) return false;
      const { column, neverNull } = output;
      const item = itemOf(column);
      if (!column || !item) return neverNull;
      const isTested = notNull.some((tested) => tested.position === column.position && tested.column === column.column);
      // An expression may have another value the next time.
      const isStored = item.properties.originOf(column.column) !== null;
      return !item.nullable && ((isTested && isStored) || item.properties.isNeverNull(column.column));
    },
  };
}

/** The only row needs no key to be told from others, but an identifier needs a value. */
function singleRow(
  { outputs }: QueryParts,
  isNeverNull: RowProperties['isNeverNull'],
): Pick<RowProperties, 'key' | 'unique' | 'single' | 'problem'> {
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
 * What `distinct` or `group by` names, if the query shows it all: no two rows are equal in it, where nulls are equal, too. It is a key if
 * equal values are the same, because a group shows any one of its equal values, and if they are the same each time.
 */
function groupedColumns(
  { outputs }: QueryParts,
  shape: QueryShape,
  { isNeverNull, isStable }: Pick<RowProperties, 'isNeverNull' | 'isStable'>,
  operators: Operators,
): Pick<RowProperties, 'key' | 'unique' | 'problem'> {
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
    if (output === undefined || column === 0 || family === undefined) return none;
    if (!isStable(column)) problem ??= `it groups rows by ${unsuitable.unstable}`;
    if (!operators.isExact(operator, output)) problem ??= `it groups rows by ${unsuitable.inexact}`;
    columns.push({ column, family, collation: output.collation, ...(!isNeverNull(column) && { mayBeNull: true }) });
  }
  if (columns.length === 0) return none;
  const inOrder = columns.sort((one, other) => one.column - other.column);
  return { key: problem === null ? inOrder : null, unique: [inOrder], problem };
}

/** The keys of the items that together identify a row of the query, and other unique columns; or why there is no such key. */
function keyOfItems(
  parts: QueryParts,
  shape: QueryShape,
  items: readonly InferredItem[],
  operators: Operators,
): { readonly key: readonly KeyColumn[]; readonly unique: RowProperties['unique'] } | { readonly problem: string } {
  const shown = parts.outputs.filter(({ hidden }) => !hidden);
  const needs = neededItems(parts, shape, items);
  if (typeof needs === 'string') return { problem: needs };
  const determine = (roots: readonly InferredItem[]) => determinedBy(roots, items, parts.equalities, operators);
  const covers = (roots: readonly InferredItem[]): boolean => {
    const determined = determine(roots);
    return needs.every((position) => determined.has(position));
  };
  const candidates = items.filter((item) => !item.nullable && !item.dependent);
  const roots = candidates.filter(
    ({ position, properties }) => properties.key !== null && shownColumns(properties.key, position, shown) !== null,
  );
  if (!covers(roots)) return { problem: explain(roots, items, needs, determine(roots)) };
  const fewest = roots.reduceRight<readonly InferredItem[]>(
    (kept, item) => (covers(without(kept, item)) ? without(kept, item) : kept),
    roots,
  );
  const key = fewest
    .flatMap(({ position, properties }) => shownColumns(properties.key!, position, shown)!)
    .sort((one, other) => one.column - other.column);
  const alone = candidates.filter((item) => covers([item]));
  const unique = alone.flatMap(({ position, properties }) =>
    properties.unique.flatMap((columns) => [shownColumns(columns, position, shown) ?? []].filter(({ length }) => length > 0)),
  );
  return { key, unique: [key, ...unique] };
}

/** The items whose rows together identify a row of the query, as few as possible; or why that is unknown. */
function neededItems({ outputs }: QueryParts, shape: QueryShape, items: readonly InferredItem[]): readonly number[] | string {
  // They leave columns null, even those of keys, so that `distinct` does not help.
  if (shape.groupingSets) return 'it groups rows in several ways (grouping sets, rollup or cube)';
  const clause = shape.groups ?? (shape.aggregates ? [] : null);
  if (shape.distinct !== null) {
    const positions = itemsNamed(shape.distinct, outputs, items);
    if (positions !== null) return positions;
    if (clause !== null || shape.returnsSets) return 'it shows an expression with distinct';
  }
  if (shape.returnsSets) return 'it calls a set-returning function in its select list';
  if (clause !== null) return itemsNamed(clause, outputs, items) ?? 'it groups rows by an expression';
  return items.filter(({ properties }) => !properties.single).map(({ position }) => position);
}

/** The items of the columns that the clause names, and those that decide whether these are null; null if one is an expression. */
function itemsNamed(
  clause: readonly GroupedBy[],
  outputs: readonly QueryOutput[],
  items: readonly InferredItem[],
): readonly number[] | null {
  const positions = new Set<number>();
  for (const { reference } of clause) {
    const output = outputs.find((candidate) => candidate.reference === reference);
    if (output === undefined || (output.column === null && !output.isConstant)) return null;
    if (output.column !== null) positions.add(output.column.position);
  }
  // A set's iteration reaches what is added meanwhile.
  for (const position of positions)
    for (const other of items.find((item) => item.position === position)?.nulledBy ?? []) positions.add(other);
  return [...positions];
}

/** The items that have at most one row for each combination of rows of `roots`. */
function determinedBy(
  roots: readonly InferredItem[],
  items: readonly InferredItem[],
  equalities: readonly Equality[],
  operators: Operators,
): ReadonlySet<number> {
  const determined = new Set(
    [...roots, ...items.filter(({ properties, dependent }) => properties.single && !dependent)].map(({ position }) => position),
  );
  const isDetermined = (position: number, { column, family, collation }: KeyColumn): boolean =>
    equalities.some(
      (equality) =>
        equality.column.position === position &&
        equality.column.column === column &&
        (equality.positions === null || equality.positions.has(position)) &&
        equality.collation === collation &&
        operators.isEquality(equality.operator, family) &&
        (equality.other === null || determined.has(equality.other.position)),
    );
  for (let before = -1; before < determined.size; ) {
    before = determined.size;
    for (const { position, properties, dependent } of items) {
      if (dependent || determined.has(position)) continue;
      if (properties.unique.some((columns) => columns.every((column) => isDetermined(position, column)))) determined.add(position);
    }
  }
  return determined;
}

/** The key's columns as columns of the query; null if it does not show all of them. */
function shownColumns(key: readonly KeyColumn[], position: number, shown: readonly QueryOutput[]): readonly KeyColumn[] | null {
  const isShown = ({ column }: QueryOutput, of: ColumnReference): boolean =>
    column?.position === of.position && column.column === of.column;
  const columns = key.map((column) => ({
    ...column,
    column: shown.findIndex((output) => isShown(output, { position, column: column.column })) + 1,
  }));
  return columns.every(({ column }) => column > 0) ? columns : null;
}

function without(items: readonly InferredItem[], item: InferredItem): readonly InferredItem[] {
  return items.filter((other) => other !== item);
}

function explain(
  roots: readonly InferredItem[],
  items: readonly InferredItem[],
  needs: readonly number[],
  determined: ReadonlySet<number>,
): string {
  const missing = items.filter(({ position }) => needs.includes(position) && !determined.has(position));
  const unknown = missing.find(({ properties }) => properties.key === null);
  if (unknown?.properties.problem) return `it reads ${unknown.name}: ${unknown.properties.problem}`;
  const names = missing.map(({ name }) => name).join(', ');
  if (roots.length === 0)
    return `it does not show the primary key of ${names}${missing.length > 1 ? ', or of one of them on which the others depend' : ''}`;
  const nullable = missing.some((item) => item.nullable);
  return `it may have several rows for one of ${roots.map(({ name }) => name).join(', ')}: those of ${names}${nullable ? ', which an outer join may leave out' : ''}`;
}
