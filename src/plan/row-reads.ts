/** The rows that the parts of a plan read, as a walk over it finds them: for each row around a part, so many. */
import type { Table } from '../model/model.ts';
import type { Filter } from './conditions.ts';
import type { RowRead } from './evaluate-rows.ts';
import type { NestedWritePlan } from './nested-write-plan.ts';
import type { Count, Parameter } from './parameter.ts';
import type { LineagePlan } from './plan.ts';
import { type Path, requiredComparisons } from './walk.ts';

/** The estimate for a column that holds an array of rows. */
const rowsOfRowList = 10;
/** The estimate for a level of a lineage. */
const rowsOfLevel = { ancestors: 1, descendants: 10 };

/** The estimate for a task of Citus beside the first, which asks a further shard. */
const rowsOfTask = 10;

export interface GrowingEstimate {
  constant: number;
  readonly reads: RowRead[];
}

export interface Around {
  /** The rows read for the row that the part is of. */
  readonly rows: GrowingEstimate;
  /** Those read for the row around a page, or for the operation. */
  readonly outer: GrowingEstimate;
  /** Whether different rows around the part have different rows of the part. */
  readonly isApart: boolean;
  /** How often each value of the order is read: a cursor has a range for each of its values. */
  readonly times: number;
}

/** Adds rows that are read for each row around them. Returns what is read for each of these. */
export function addRead(read: Omit<RowRead, 'isApart' | 'row'>, { rows, isApart, times }: Around): Around {
  const row: GrowingEstimate = { constant: 0, reads: [] };
  rows.reads.push({ ...read, isApart, row });
  return { rows: row, outer: rows, isApart: true, times };
}

/** All rows of a lineage are read, whatever the page. */
export function addLevels({ lineage: { direction }, maxDepth }: LineagePlan, { id }: Table, path: Path, around: Around): void {
  const level = addRead({ path, size: maxDepth, argument: 'maxDepth', tableId: id }, { ...around, isApart: false });
  level.rows.constant += rowsOfLevel[direction] - 1;
}

export function addRowList(path: Path, around: Around): Around {
  return addRead({ path, size: rowsOfRowList, argument: null, tableId: null }, { ...around, isApart: false });
}

/** Counts the further shards of a root field that does not say which one its rows are on. Related rows are on that of their row. */
export function addShards({ placement }: Table, filter: Filter | null, { rows, outer }: Around): void {
  if (placement?.kind !== 'distributed' || rows !== outer) return;
  const isPinned = requiredComparisons(filter).some(({ column, operator }) => operator === 'eq' && column.name === placement.column);
  if (!isPinned) rows.constant += rowsOfTask * (placement.shards - 1);
}

export function countOf(parameter: Parameter): Count {
  return parameter.value.kind === 'constant' ? Number(parameter.value.value) : parameter;
}

/** How many rows of the root field a nested write returns. */
export function sizeOfNestedWrite({ steps, written }: NestedWritePlan): Pick<RowRead, 'size' | 'argument'> {
  const first = steps.find((step) => 'rows' in step && step.rows.of === null);
  if (first && 'rows' in first && first.rows.atMost) return { size: countOf(first.rows.atMost), argument: 'atMost' };
  const inserts = steps.filter((step) => step.kind === 'insert' && step.into === written);
  return { size: inserts.reduce((total, { paths }) => total + paths.length, 0), argument: null };
}
