/** Parses the output of `explain (format json)`. */
import type { DatabasePlan, DatabasePlanNode } from './explanation.ts';

type RawNode = Readonly<Record<string, unknown>>;

/** Conditions that find or remove rows, as `explain` names them. */
const conditionKinds = ['Index Cond', 'Recheck Cond', 'Hash Cond', 'Merge Cond', 'TID Cond', 'Join Filter', 'Filter', 'One-Time Filter'];
const removedKinds = ['Rows Removed by Filter', 'Rows Removed by Join Filter', 'Rows Removed by Index Recheck'];

export function readDatabasePlan(json: string): DatabasePlan {
  const [raw] = JSON.parse(json) as [RawNode];
  return {
    root: readNode(raw.Plan as RawNode),
    planningMillis: numberOf(raw['Planning Time']),
    executionMillis: numberOf(raw['Execution Time']),
  };
}

function readNode(raw: RawNode): DatabasePlanNode {
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
      rows: numberOf(raw['Plan Rows']) ?? 0,
    },
    actual: actualOf(raw),
    children: ((raw.Plans as readonly RawNode[] | undefined) ?? []).map(readNode),
  };
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

function actualOf(raw: RawNode): DatabasePlanNode['actual'] {
  const loops = numberOf(raw['Actual Loops']);
  if (loops === null) return null;
  const removed = removedKinds.reduce((sum, kind) => sum + (numberOf(raw[kind]) ?? 0), 0);
  return { rows: numberOf(raw['Actual Rows']) ?? 0, loops, milliseconds: numberOf(raw['Actual Total Time']) ?? 0, removed };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
