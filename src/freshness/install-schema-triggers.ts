/**
 * Installs our SQL extension (`schema-version.sql`) and reads the schema version that it keeps. What a batch does with a version is
 * `encode-batch.ts`'s.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Database } from '../database/database.ts';

/** The channel on which the event triggers tell of DDL that has committed. */
export const schemaChannel = 'rowgraph_schema';

const triggersText = `select count(*) = 2 from pg_catalog.pg_event_trigger
  where evtname in ('rowgraph_ddl', 'rowgraph_drop') and evtenabled in ('O', 'A')`;
const commentText = "select pg_catalog.obj_description(pg_catalog.to_regnamespace('rowgraph'), 'pg_namespace')";

/**
 * Installs the event triggers, unless they are there as we want them. Only a superuser may (and who a provider lets); everybody else is
 * rejected with SQLSTATE 42501, and nothing is changed.
 */
export async function installSchemaTriggers(database: Database): Promise<void> {
  const script = await readFile(new URL('./schema-version.sql', import.meta.url), 'utf8');
  const comment = `Keeps the schema version for rowgraph (${createHash('sha256').update(script).digest('hex').slice(0, 16)})`;
  if ((await areTriggersOn(database)) && (await database.query(commentText))[0]?.[0] === comment) return;
  await database.query(`${script}\ncomment on schema rowgraph is '${comment}';`);
}

/**
 * The version of the schema, or null where the database keeps none. Read it before the catalog: DDL that commits between the two
 * then shows as another version at the first batch, and is not overlooked.
 */
export async function readSchemaVersion(database: Database): Promise<string | null> {
  if (!(await areTriggersOn(database))) return null;
  const rows = await database.query('select coalesce(sum(weight), 0)::text from rowgraph.schema_change');
  return rows[0]?.[0] ?? null;
}

async function areTriggersOn(database: Database): Promise<boolean> {
  return (await database.query(triggersText))[0]?.[0] === 't';
}
