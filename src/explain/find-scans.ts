/**
 * Finds where PostgreSQL reads a table in full or sorts what it reads. In: the plan of a statement; out: each such scan with the number of rows that it
 * comes to, measured if the statement ran, and estimated otherwise.
 */
import type { DatabasePlan, DatabasePlanNode } from './explanation.ts';

/** A table that is read, and sorted if there are keys. */
export interface Scan {
  readonly table: NonNullable<DatabasePlanNode['table']>;
  /** Whether rows are read until enough of them pass the filters, whatever these say: by a sequential scan, or in the order of an index. */
  readonly isBlind: boolean;
  /** The index in whose order it is read until there are enough rows. */
  readonly orderedBy: string | null;
  readonly filters: readonly string[];
  /** The keys of the sort above it; none if it is not sorted. */
  readonly sortKeys: readonly string[];
  /** How often it runs. */
  readonly loops: number;
  /** Rows of one loop that pass the filters. */
  readonly rows: number;
  /** Rows of one loop that do not; null if that is not known. */
  readonly removed: number | null;
  /** Rows of one loop that are needed in the end, where there is a limit. */
  readonly kept: number;
  /** The share of the table that is read until there are enough rows. */
  readonly share: number;
}

/** The scans, outermost first. */
export function findScans({ root }: DatabasePlan): Scan[] {
  const scans: Scan[] = [];
  visit(root, { loops: 1, sort: null, limit: null }, scans);
  return scans;
}

interface Surroundings {
  readonly loops: number;
  /** The sort that only this node feeds. */
  readonly sort: DatabasePlanNode | null;
  /** The limit that only this node feeds. */
  readonly limit: DatabasePlanNode | null;
}

function visit(node: DatabasePlanNode, around: Surroundings, scans: Scan[]): void {
  if (node.table !== null && node.type.endsWith('Scan')) scans.push(scanOf(node, around));
  const [outer] = node.children;
  for (const child of node.children) {
    const passes = child === outer && child.relationship === 'Outer' && node.children.every((other) => other === child || isSubplan(other));
    const next = passes ? surroundingsBelow(node, around) : { sort: null, limit: null };
    visit(child, { ...next, loops: loopsOf(child, node, around.loops) }, scans);
  }
}

function surroundingsBelow(node: DatabasePlanNode, { sort, limit }: Surroundings): Omit<Surroundings, 'loops'> {
  switch (node.type) {
    case 'Limit':
      return { sort: null, limit: node };
    case 'Sort':
      return { sort: node, limit };
    case 'Incremental Sort':
      // Its rows come in the order of its first keys, so that a limit spares most of them; how many, only running it tells.
      return { sort: node.actual === null ? null : node, limit };
    case 'WindowAgg':
    case 'Bitmap Heap Scan':
    case 'Gather Merge':
    case 'Gather':
    case 'Result':
    case 'Append':
      return { sort, limit };
    default:
      return { sort: null, limit: null };
  }
}

function isSubplan({ relationship }: DatabasePlanNode): boolean {
  return relationship === 'SubPlan' || relationship === 'InitPlan';
}

/** A subplan runs for each row of the node that it belongs to, the inner side of a nested loop for each row of the outer one. */
function loopsOf(child: DatabasePlanNode, parent: DatabasePlanNode, loops: number): number {
  if (child.actual !== null) return child.actual.loops;
  if (child.relationship === 'SubPlan') return loops * Math.max(1, rowsInto(parent));
  if (child.relationship === 'Inner' && parent.type.startsWith('Nested Loop'))
    return loops * Math.max(1, parent.children[0]?.estimate.rows ?? 1);
  return loops;
}

/** An aggregate has one row, but runs its subplans for each row that goes into it. */
function rowsInto(node: DatabasePlanNode): number {
  const input = node.children.find(({ relationship }) => relationship === 'Outer');
  return Math.max(node.estimate.rows, input?.estimate.rows ?? 0);
}

function scanOf(node: DatabasePlanNode, { loops, sort, limit }: Surroundings): Scan {
  const { actual, estimate } = node;
  const filters = node.conditions.filter(({ kind }) => kind === 'Filter' || kind === 'Index Cond' || kind === 'Recheck Cond');
  const rows = actual?.rows ?? estimate.rows;
  const kept = limit === null ? rows : (limit.actual?.rows ?? limit.estimate.rows);
  const isBlind = node.type === 'Seq Scan' || (node.index !== null && node.conditions.every(({ kind }) => kind === 'Filter'));
  return {
    table: node.table!,
    isBlind,
    orderedBy: isBlind && sort === null && limit !== null ? node.index : null,
    filters: filters.map(({ text }) => text),
    sortKeys: sort?.sortKeys ?? [],
    loops,
    rows,
    removed: actual?.removed ?? null,
    kept,
    share: limit === null || sort !== null || actual !== null ? 1 : Math.min(1, kept / Math.max(1, rows)),
  };
}
