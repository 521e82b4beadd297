/**
 * Parses the output of `explain (format json)`. PostgreSQL counts the rows that parallel workers share per process; here, they are counted in
 * total, as if one process had done all of it.
 */
import type { DatabasePlan, DatabasePlanNode } from './explanation.ts';

type RawNode = Readonly<Record<string, unknown>>;

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
      startupCost: numberOf(raw['Startup Cost']) ?? 0,
      totalCost: numberOf(raw['Total Cost']) ?? 0,
      rows: Math.round((numberOf(raw['Plan Rows']) ?? 0) * (shared === null ? 1 : processesOf(shared, around.leads))),
    },
    actual: actualOf(raw, shared),
    children: childrenOf(raw).map((child) => readNode(child, below)),
  };
}

function childrenOf(raw: RawNode): readonly RawNode[] {
  return (raw.Plans as readonly RawNode[] | undefined) ?? [];
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
    milliseconds: numberOf(raw['Actual Total Time']) ?? 0,
    removed: perRun(removed),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
