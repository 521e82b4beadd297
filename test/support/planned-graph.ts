/** A rowgraph over tables with statistics, for tests of the indexes that PostgreSQL chooses. */
import type { Advice, DatabasePlanNode, Explanation } from '../../src/index.ts';
import { startTestGraph, type TestGraph } from './test-graph.ts';

export interface PlannedGraph extends TestGraph {
  /** PostgreSQL's plan of a query, by the role anon. */
  explain(query: string, variables?: object): Promise<Explanation>;
}

export async function startPlannedGraph(schemaSql: string): Promise<PlannedGraph> {
  const started = await startTestGraph(schemaSql);
  await started.database.run('vacuum analyze');
  const explain = (query: string, variables: object = {}): Promise<Explanation> =>
    started.graph.explain({ query, variables: { ...variables } }, { role: 'anon' }, { mode: 'plan' });
  return { ...started, explain };
}

const nodesOf = (node: DatabasePlanNode): DatabasePlanNode[] => [node, ...node.children.flatMap(nodesOf)];

export function planNodes({ statements }: Explanation): DatabasePlanNode[] {
  return statements.flatMap(({ databasePlan }) => (databasePlan ? nodesOf(databasePlan.root) : []));
}

export function indexesOf(explanation: Explanation): string[] {
  return planNodes(explanation).flatMap(({ index }) => index ?? []);
}

export function adviceOf({ advice }: Explanation, code: Advice['code']): string[] {
  return advice.flatMap((each) => (each.code === code ? [each.sql] : []));
}
