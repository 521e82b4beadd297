/**
 * The SQL of requests over the schema of the golden files. In: a request; out: the text of its statements, one after the other.
 */
import { readFileSync } from 'node:fs';
import { createRowgraph, type GraphQLRequest } from '../../src/index.ts';
import { startTestDatabases } from '../support/test-databases.ts';

export interface GoldenCompiler {
  compileToSql(request: GraphQLRequest): Promise<string>;
  /** Has PostgreSQL parse and analyse a statement; rejects where it is not valid. */
  analyse(statement: string): Promise<void>;
  close(): Promise<void>;
}

/** What stands between the statements of one request. */
export const separator = ';\n\n';

/** Loads the schema into a fresh database and opens rowgraph over it. */
export async function openGoldenCompiler(): Promise<GoldenCompiler> {
  const databases = await startTestDatabases();
  const database = await databases.create(readFileSync(new URL('schema.sql', import.meta.url), 'utf8'));
  const graph = await createRowgraph({ database: database.url });
  return {
    compileToSql: async (request) =>
      (await graph.explain(request, { role: 'service_role' }, { mode: 'sql' })).statements
        .map(({ text }) => text + separator)
        .join('')
        .trimEnd(),
    analyse: async (statement) => {
      await database.run(`prepare golden as ${statement}; deallocate golden`);
    },
    close: async () => {
      await graph.close();
      await databases.close();
    },
  };
}
