/**
 * What the checks of one case share: its schema in PostgreSQL, rowgraph over it, and rowgraph's model, of which only the names are used.
 */

import { runAtOnce } from '../../src/budget/turns.ts';
import { loadCatalog } from '../../src/catalog/load-catalog.ts';
import { loadPrivileges } from '../../src/catalog/privileges.ts';
import { openDatabase } from '../../src/database/open-database.ts';
import type { Rowgraph, RowgraphOptions } from '../../src/index.ts';
import { buildReportedModel } from '../../src/model/build-model.ts';
import type { ReportedModel } from '../../src/model/report.ts';
import type { AdditionName } from '../../src/settings/additions.ts';
import type { CaseDatabase } from '../conformance/case-database.ts';
import type { SchemaDescription } from './schema-description.ts';
import { quoteIdentifier, quoteLiteral } from './schema-sql.ts';

export interface CaseContext {
  readonly database: CaseDatabase;
  readonly schema: SchemaDescription;
  readonly graph: Rowgraph;
  /** What values of json and jsonb are in responses. */
  readonly json: 'string' | 'object';
}

/** The claims of every caller. */
export const claims = { sub: 'ann' };

/** The models of some roles, for their names. */
export async function readModels(
  target: RowgraphOptions['database'],
  schema: SchemaDescription,
  roles: readonly string[],
  additions: ReadonlySet<AdditionName>,
): Promise<ReportedModel[]> {
  const database = openDatabase(target, { poolSize: 1, observe: () => undefined });
  try {
    const catalog = await loadCatalog(database, [schema.name]);
    const models: ReportedModel[] = [];
    for (const role of roles)
      models.push(runAtOnce(buildReportedModel(catalog, await loadPrivileges(database, catalog, role), { additions })));
    return models;
  } finally {
    await database.close();
  }
}

/** Runs statements as a role with its claims, in a transaction that is rolled back whatever happens. */
export async function asRole<Result>({ database, schema }: CaseContext, role: string, run: () => Promise<Result>): Promise<Result> {
  const settings = [
    `set local role ${role}`,
    `set local request.jwt.claims = ${quoteLiteral(JSON.stringify({ ...claims, role }))}`,
    // Extensions are in `public`.
    `set local search_path = ${quoteIdentifier(schema.name)}, public`,
  ];
  await database.run(`begin; ${settings.join('; ')}`);
  try {
    return await run();
  } finally {
    await database.run('rollback');
  }
}

/** The one value of the one row of a query. */
export async function readValue(database: CaseDatabase, query: string): Promise<string | null> {
  const [row] = await database.run(query);
  return (row?.[0] ?? null) as string | null;
}
