/**
 * Finds the table scans in a statement's plan, with any sort above them. Row counts are measured if the statement ran, and estimated
 * otherwise.
 */
import type { DatabasePlan, DatabasePlanNode } from './explanation.ts';

/** A scan of a table, and the sort of its rows, if any. */
export interface Scan {
  readonly table: NonNullable<DatabasePlanNode['table']>;
  /** Whether it reads rows regardless of the filters until enough pass: sequentially, or in the order of an index. */
  readonly isBlind: boolean;
  /** The index in whose order it reads until there are enough rows. */
  readonly orderedBy: string | null;
  readonly filters: readonly string[];
  /** The keys of the sort above it; empty if there is none. */
  readonly sortKeys: readonly string[];
  /** How often it runs. */
  readonly loops: number;
  /** Rows per loop that pass the filters. */
  readonly rows: number;
  /** Rows per loop that do not; null if unknown. */
  readonly removed: number | null;
  /** Rows per loop that are needed in the end, if there is a limit. */
  readonly kept: number;
  /** The share of the table that it reads until there are enough rows. */
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
      // Its input is already in the order of the first keys, so a limit saves most of it. Only running it shows how much.
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

/** A subplan runs for each row of its node, and the inner side of a nested loop for each row of the outer side. */
function loopsOf(child: DatabasePlanNode, parent: DatabasePlanNode, loops: number): number {
  if (child.actual !== null) return child.actual.loops;
  if (child.relationship === 'SubPlan') return loops * Math.max(1, rowsInto(parent));
  if (child.relationship === 'Inner' && parent.type.startsWith('Nested Loop'))
    return loops * Math.max(1, parent.children[0]?.estimate.rows ?? 1);
  return loops;
}

/** An aggregate returns one row, but runs its subplans for each input row. */
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
