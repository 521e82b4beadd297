/**
 * Parses the output of `explain (format json)`. PostgreSQL counts the rows that parallel workers share per process; here, they are counted
 * in total, as if one process had done all of it.
 */
import type { DatabasePlan, DatabasePlanNode } from './explanation.ts';
import { distributedPlans, type RawNode, tasksOf } from './shard-plans.ts';

/** Conditions that find or remove rows, as `explain` names them. */
const conditionKinds = ['Index Cond', 'Recheck Cond', 'Hash Cond', 'Merge Cond', 'TID Cond', 'Join Filter', 'Filter', 'One-Time Filter'];
const removedKinds = ['Rows Removed by Filter', 'Rows Removed by Join Filter', 'Rows Removed by Index Recheck'];

export function readDatabasePlan(json: string): DatabasePlan {
  const [raw] = JSON.parse(json) as [RawNode];
  const settings = (raw.Settings ?? {}) as RawNode;
  return {
    root: readNode(raw.Plan as RawNode, { leads: settings.parallel_leader_participation !== 'off', gather: null }),
    planningMillis: numberOf(raw['Planning Time']),
    executionMillis: numberOf(raw['Execution Time']),
  };
}

interface Surroundings {
  /** Whether the leader of parallel workers does a part of their work. */
  readonly leads: boolean;
  /** The node above that collects the rows of parallel workers. */
  readonly gather: RawNode | null;
}

function readNode(raw: RawNode, around: Surroundings): DatabasePlanNode {
  const below = isGather(raw) ? { ...around, gather: raw } : around;
  const shared = around.gather !== null && isShared(raw) ? around.gather : null;
  const conditions = conditionKinds.flatMap((kind) => (typeof raw[kind] === 'string' ? [{ kind, text: raw[kind] }] : []));
  return {
    type: typeOf(raw),
    relationship: textOf(raw['Parent Relationship']),
    name: textOf(raw['Subplan Name']),
    table: tableOf(raw),
    index: textOf(raw['Index Name']),
    function: textOf(raw['Function Name']),
    conditions,
    sortKeys: (raw['Sort Key'] as readonly string[] | undefined) ?? [],
    estimate: {
      startupCost: without(raw, 'Startup Cost', 'Total Cost'),
      totalCost: without(raw, 'Total Cost', 'Total Cost'),
      rows: Math.round((numberOf(raw['Plan Rows']) ?? 0) * (shared === null ? 1 : processesOf(shared, around.leads))),
    },
    actual: actualOf(raw, shared),
    tasks: tasksOf(raw),
    children: childrenOf(raw).flatMap((child) => (isGuard(child) ? [] : [readNode(child, below)])),
  };
}

/** What rowgraph adds to each statement to notice a change of the schema: no part of the request. */
function isGuard(raw: RawNode): boolean {
  if (raw['Relation Name'] !== undefined) return raw.Schema === 'rowgraph' && raw['Relation Name'] === 'schema_change';
  return raw['Parent Relationship'] === 'InitPlan' || raw['Node Type'] === 'Aggregate'
    ? childrenOf(raw).length === 1 && isGuard(childrenOf(raw)[0]!)
    : false;
}

/** A measure of a node without the share of the guards below it, in hundredths as PostgreSQL writes costs, or thousandths for times. */
function without(raw: RawNode, measure: string, ofGuard: string): number {
  const all = numberOf(raw[measure]) ?? 0;
  const share = guardedShare(raw, ofGuard);
  return share === 0 ? all : Math.max(0, Math.round((all - share) * 1000) / 1000);
}

/** The sum of a measure over the guards below a node, which it counts among its own. */
function guardedShare(raw: RawNode, measure: string): number {
  return childrenOf(raw).reduce((sum, child) => sum + (isGuard(child) ? (numberOf(child[measure]) ?? 0) : guardedShare(child, measure)), 0);
}

function childrenOf(raw: RawNode): readonly RawNode[] {
  return [...((raw.Plans as readonly RawNode[] | undefined) ?? []), ...distributedPlans(raw)];
}

function isGather(raw: RawNode): boolean {
  return raw['Node Type'] === 'Gather' || raw['Node Type'] === 'Gather Merge';
}

/** Whether each process has a share of its rows. Other nodes below a Gather run completely in each process. */
function isShared(raw: RawNode): boolean {
  if (raw['Parallel Aware'] === true) return true;
  const inputs = childrenOf(raw).filter((child) => !['SubPlan', 'InitPlan'].includes(textOf(child['Parent Relationship']) ?? ''));
  return !isGather(raw) && inputs.some(isShared);
}

/** The divisor of PostgreSQL's estimates (`get_parallel_divisor` in costsize.c): workers take up 30 % of the leader each. */
function processesOf(gather: RawNode, leads: boolean): number {
  const workers = numberOf(gather['Workers Planned']) ?? 0;
  return workers + (leads ? Math.max(0, 1 - 0.3 * workers) : 0);
}

/** The node type as in the text format: `Hash Left Join`, `Insert`. */
function typeOf(raw: RawNode): string {
  const type = textOf(raw['Node Type']) ?? '';
  const join = textOf(raw['Join Type']);
  if (type === 'ModifyTable') return textOf(raw.Operation) ?? type;
  if (join === null || join === 'Inner') return type;
  return type === 'Nested Loop' ? `${type} ${join} Join` : type.replace(/ Join$/, ` ${join} Join`);
}

function tableOf(raw: RawNode): DatabasePlanNode['table'] {
  const name = textOf(raw['Relation Name']);
  if (name === null) return null;
  return { schema: textOf(raw.Schema) ?? '', name, alias: textOf(raw.Alias) ?? name };
}

/** `gather` collects the node's rows, if processes share them. Each process counts as a loop. */
function actualOf(raw: RawNode, gather: RawNode | null): DatabasePlanNode['actual'] {
  const loops = numberOf(raw['Actual Loops']);
  if (loops === null) return null;
  const runs = gather === null || loops === 0 ? loops : (numberOf(gather['Actual Loops']) ?? loops);
  const perRun = (count: number): number => (runs === loops ? count : Math.round((count * loops) / runs));
  const removed = removedKinds.reduce((sum, kind) => sum + (numberOf(raw[kind]) ?? 0), 0);
  return {
    rows: perRun(numberOf(raw['Actual Rows']) ?? 0),
    loops: runs,
    milliseconds: without(raw, 'Actual Total Time', 'Actual Total Time'),
    removed: perRun(removed),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export interface Scan {
  readonly table: NonNullable<DatabasePlanNode['table']>;
  /** Whether it reads rows regardless of the filters until enough pass: sequentially, or in the order of an index. */
  readonly isBlind: boolean;
  /** The index in whose order it reads until there are enough rows. */
  readonly orderedBy: string | null;
  readonly filters: readonly string[];
  /** The keys of the sort above it; empty if there is none. */
  readonly sortKeys: readonly string[];
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

/** Finds the scans, outermost first. Row counts are measured if the statement ran, and estimated otherwise. */
export function findScans({ root }: DatabasePlan): Scan[] {
  const scans: Scan[] = [];
  visit(root, { loops: 1, sort: null, limit: null }, scans);
  return scans;
}

interface ScanSurroundings {
  readonly loops: number;
  /** The sort that only this node feeds. */
  readonly sort: DatabasePlanNode | null;
  /** The limit that only this node feeds. */
  readonly limit: DatabasePlanNode | null;
}

function visit(node: DatabasePlanNode, around: ScanSurroundings, scans: Scan[]): void {
  if (node.table !== null && node.type.endsWith('Scan')) scans.push(scanOf(node, around));
  const [outer] = node.children;
  for (const child of node.children) {
    const passes = child === outer && child.relationship === 'Outer' && node.children.every((other) => other === child || isSubplan(other));
    const next = passes ? surroundingsBelow(node, around) : { sort: null, limit: null };
    visit(child, { ...next, loops: loopsOf(child, node, around.loops) }, scans);
  }
}

function surroundingsBelow(node: DatabasePlanNode, { sort, limit }: ScanSurroundings): Omit<ScanSurroundings, 'loops'> {
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
  if (parent.tasks !== null && child.relationship === 'Outer') return loops * parent.tasks;
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

function scanOf(node: DatabasePlanNode, { loops, sort, limit }: ScanSurroundings): Scan {
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
