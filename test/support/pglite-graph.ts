/** A rowgraph over a PGlite of its own, with the usual roles and grants: for tests of a few tables on PGlite. */
import assert from 'node:assert/strict';
import type { PGlite } from '@electric-sql/pglite';
import { createRowgraph, type Rowgraph, type RowgraphOptions } from '../../src/index.ts';
import { startPglite } from './pglite.ts';
import { grantsSql, rolesSql } from './roles.ts';

export interface PgliteGraph {
  readonly pglite: PGlite;
  readonly graph: Rowgraph;
  /** The data of a response without errors; the role is `service_role` unless another is given. */
  ask(query: string, role?: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts PGlite, runs the SQL of a schema and opens rowgraph over it. */
export async function startPgliteGraph(schemaSql: string, options: Omit<RowgraphOptions, 'database'> = {}): Promise<PgliteGraph> {
  const pglite = await startPglite();
  await pglite.exec(`${rolesSql} ${grantsSql} ${schemaSql}`);
  const graph = await createRowgraph({ ...options, database: pglite });
  const stop = async (): Promise<void> => {
    await graph.close();
    await pglite.close();
  };
  return { pglite, graph, ask: (query, role) => askGraph(graph, query, role), stop };
}

/** The data of a response without errors. */
export async function askGraph(graph: Rowgraph, query: string, role = 'service_role'): Promise<unknown> {
  const { data, errors } = await graph.execute({ query }, { role });
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data;
}
