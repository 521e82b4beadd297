/**
 * A rowgraph over its own database, on its own PostgreSQL server, with the usual roles and grants: for tests of a few tables. All of this
 * starts in a third of the time of a PGlite; `pglite-graph.ts` does the same for tests that depend on PGlite.
 */
import { createRowgraph, type Rowgraph, type RowgraphOptions } from '../../src/index.ts';
import { askGraph } from './pglite-graph.ts';
import { startTestDatabases, type TestDatabase } from './test-databases.ts';

export interface TestGraph {
  readonly database: TestDatabase;
  readonly graph: Rowgraph;
  /** The data of a response without errors; the role is `service_role` unless another is given. */
  ask(query: string, role?: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts PostgreSQL, runs the SQL of a schema and opens rowgraph over it. */
export async function startTestGraph(schemaSql: string, options: Omit<RowgraphOptions, 'database'> = {}): Promise<TestGraph> {
  const databases = await startTestDatabases();
  const database = await databases.create(schemaSql);
  const graph = await createRowgraph({ ...options, database: database.url });
  const stop = async (): Promise<void> => {
    await graph.close();
    await databases.close();
  };
  return { database, graph, ask: (query, role) => askGraph(graph, query, role), stop };
}
