/**
 * Examines small schemas for tests of the doctor: each is made from SQL in its own schema, in one database with the roles of the vectors.
 */
import type { Database } from '../../src/database/database.ts';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { examineDatabase } from '../../src/doctor/examine-database.ts';
import type { Finding, FindingCode } from '../../src/doctor/finding-codes.ts';
import { startTestDatabases, type TestDatabase } from './test-databases.ts';

export interface Doctor {
  /** Runs SQL as the superuser, in the session that creates the objects. */
  readonly run: TestDatabase['run'];
  readonly database: Database;
  /** Creates the objects in a fresh schema that everybody may use, and returns the findings, with `s` for the name of the schema. */
  examine(sql: string, options?: { readonly role?: string; readonly schemas?: readonly string[] }): Promise<readonly Finding[]>;
  close(): Promise<void>;
}

/** Starts a database for it. The caller closes it. Roles and further schemas that the SQL creates remain for later SQL. */
export async function startDoctor(): Promise<Doctor> {
  const databases = await startTestDatabases();
  const { url, run } = await databases.create('');
  const database = openPgDatabase(url.replace('authenticator', 'postgres'));
  let schemaCount = 0;
  return {
    run,
    database,
    async examine(sql, { role = 'anon', schemas = [] } = {}) {
      schemaCount += 1;
      const schema = `s${schemaCount}`;
      await run(`create schema ${schema}; grant usage on schema ${schema} to public; set search_path to ${schema}; ${sql}`);
      const { findings } = await examineDatabase(database, [schema, ...schemas], role);
      return JSON.parse(JSON.stringify(findings).replaceAll(new RegExp(`\\b${schema}\\b`, 'g'), 's')) as Finding[];
    },
    async close() {
      await database.close();
      await databases.close();
    },
  };
}

/** The findings with these codes as lines: `writable-without-rls table s.note`. */
export function linesOf(findings: readonly Finding[], ...codes: readonly FindingCode[]): string[] {
  return findings.filter(({ code }) => codes.includes(code)).map(({ code, object, name }) => `${code} ${object} ${name}`);
}

/** The only finding with this code. */
export function onlyOf(findings: readonly Finding[], code: FindingCode): Finding {
  const [found, ...others] = findings.filter((finding) => finding.code === code);
  if (!found || others.length > 0) throw new Error(`${others.length + (found ? 1 : 0)} findings of ${code}: ${JSON.stringify(findings)}`);
  return found;
}
