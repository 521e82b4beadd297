/** What `explain` says of Citus's scans: the plans of subplans, and of one of the tasks, each of which runs on a shard. */

export type RawNode = Readonly<Record<string, unknown>>;

interface RawJob {
  readonly 'Task Count'?: number;
  readonly Tasks?: readonly { readonly 'Remote Plan'?: readonly (readonly { readonly Plan?: RawNode }[])[] }[];
}

interface RawDistributed {
  readonly Job?: RawJob;
  readonly Subplans?: readonly { readonly PlannedStmt?: readonly { readonly Plan?: RawNode }[] }[];
}

function distributedOf(raw: RawNode): RawDistributed | null {
  const distributed = raw['Distributed Query'];
  return typeof distributed === 'object' && distributed !== null ? distributed : null;
}

export function tasksOf(raw: RawNode): number | null {
  return distributedOf(raw)?.Job?.['Task Count'] ?? null;
}

/** Plans whose results Citus sends on to the nodes, and the plan of a task. */
export function distributedPlans(raw: RawNode): readonly RawNode[] {
  const distributed = distributedOf(raw);
  if (distributed === null) return [];
  const subplans = (distributed.Subplans ?? []).flatMap(({ PlannedStmt = [] }) =>
    PlannedStmt.flatMap(({ Plan }) => (Plan === undefined ? [] : [Plan])),
  );
  const remote = distributed.Job?.Tasks?.[0]?.['Remote Plan']?.[0]?.[0]?.Plan;
  return [
    ...subplans.map((plan: RawNode) => ({ ...plan, 'Parent Relationship': 'InitPlan', 'Subplan Name': 'Distributed Subplan' })),
    ...(remote === undefined ? [] : [{ ...onTable(remote), 'Parent Relationship': 'Outer' }]),
  ];
}

/** The plan with the names of tables and their indexes, in place of those on the shard: `task_pkey_102413`. */
function onTable(raw: RawNode): RawNode {
  const named = ['Relation Name', 'Index Name'].flatMap((field) => {
    const name = raw[field];
    return typeof name === 'string' ? [[field, name.replace(/_\d{6,}$/, '')]] : [];
  });
  const plans = (raw.Plans as readonly RawNode[] | undefined)?.map(onTable);
  return { ...raw, ...Object.fromEntries(named), ...(plans && { Plans: plans }) };
}
