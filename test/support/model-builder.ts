/** Builds models of small schemas for tests: each is made from SQL in its own schema, in one database with the roles of the vectors. */

import { runAtOnce } from '../../src/budget/turns.ts';
import { loadCatalog } from '../../src/catalog/load-catalog.ts';
import { loadPrivileges } from '../../src/catalog/privileges.ts';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { buildReportedModel } from '../../src/model/build-model.ts';
import type { Table } from '../../src/model/model.ts';
import type { ReportedModel } from '../../src/model/report.ts';
import { startTestDatabases } from './test-databases.ts';

export interface ModelOptions {
  /** Default: service_role. */
  readonly role?: string;
  /** Further members of the schema's comment directive, which switches inflection on. */
  readonly directive?: object;
  /** Further exposed schemas. */
  readonly schemas?: readonly string[];
}

export interface ModelBuilder {
  /** Creates the objects in a fresh schema, `s1`, `s2` and so on, which is the search path, and builds their model. */
  build(sql: string, options?: ModelOptions): Promise<ReportedModel>;
  close(): Promise<void>;
}

/** Starts a database to build models in. The caller closes it. */
export async function startModelBuilder(): Promise<ModelBuilder> {
  const databases = await startTestDatabases();
  const { url, run } = await databases.create('');
  const database = openPgDatabase(url.replace('authenticator', 'postgres'));
  let schemaCount = 0;
  return {
    async build(sql, { role = 'service_role', directive = {}, schemas = [] } = {}) {
      schemaCount += 1;
      const schema = `s${schemaCount}`;
      await run(`
        create schema ${schema}; grant usage on schema ${schema} to anon, service_role; set search_path to ${schema};
        alter default privileges in schema ${schema} grant all on tables to anon, service_role;
        comment on schema ${schema} is '@graphql(${JSON.stringify({ inflect_names: true, ...directive })})';
        ${sql}
      `);
      const catalog = await loadCatalog(database, [schema, ...schemas]);
      return runAtOnce(buildReportedModel(catalog, await loadPrivileges(database, catalog, role)));
    },
    async close() {
      await database.close();
      await databases.close();
    },
  };
}

/** The table with this type name, which must exist. */
export function tableOf(model: ReportedModel, typeName: string): Table {
  const table = model.tables.find((candidate) => candidate.typeName === typeName);
  if (!table) throw new Error(`no table ${typeName} but ${model.tables.map((other) => other.typeName).join(', ')}`);
  return table;
}

/** The GraphQL names of columns, relations or functions. */
export function fieldNames(fields: readonly { readonly fieldName: string }[]): string[] {
  return fields.map(({ fieldName }) => fieldName);
}

/** Objects whose GraphQL name is not their own, by kind and name, without the schema and the types of arguments: `table node`. */
export function renamedObjects({ renamings }: ReportedModel): string[] {
  return renamings.map(({ object, name }) => `${object} ${name.replace(/^s\d+\./, '').replace(/\(.*\)/, '')}`);
}

/** The reasons of exclusions, by kind and name of the object, without the schema and the types of arguments: `table keyless`. */
export function reasonsByObject({ exclusions }: ReportedModel): Record<string, string> {
  return Object.fromEntries(
    exclusions.map(({ object, name, reason }) => [`${object} ${name.replace(/^s\d+\./, '').replace(/\(.*\)/, '')}`, reason]),
  );
}
