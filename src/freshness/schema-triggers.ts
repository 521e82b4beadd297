/**
 * Installs and removes our event triggers (`schema-version-script.ts`), and reads the schema version that they keep. What a batch does with a version is
 * `encode-batch.ts`'s.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { schemaVersionScript } from './schema-version-script.ts';

/** The channel on which the event triggers announce committed DDL. */
export const schemaChannel = 'rowgraph_schema';

/** What is used of a `Database`, so that any connection will do. */
type Queryable = Pick<Database, 'query'>;

/** `outdated`: they are disabled, incomplete, or of another version of rowgraph. */
export type SchemaTriggersState = 'installed' | 'outdated' | 'absent';

const triggersText = `select count(*) = 2 from pg_catalog.pg_event_trigger
  where evtname in ('rowgraph_ddl', 'rowgraph_drop') and evtenabled in ('O', 'A')`;
const commentText = `select pg_catalog.obj_description(pg_catalog.to_regnamespace('rowgraph'), 'pg_namespace'),
  pg_catalog.to_regclass('rowgraph.schema_change') is not null`;
/** Identifies the version of the script. */
const comment = `Keeps the schema version for rowgraph (${createHash('sha256').update(schemaVersionScript).digest('hex').slice(0, 16)})`;
const removal = `drop event trigger if exists rowgraph_ddl;
  drop event trigger if exists rowgraph_drop;
  drop function if exists rowgraph.note_schema_change(), rowgraph.fold_schema_changes(), rowgraph.raise_stale_schema();
  drop table if exists rowgraph.schema_change;
  drop schema if exists rowgraph`;

/**
 * Installs the event triggers, unless the current version is already installed. This needs a superuser (or whom the provider allows); others are
 * rejected with SQLSTATE 42501, and nothing is changed.
 */
export async function installSchemaTriggers(database: Queryable): Promise<void> {
  if ((await readTriggersState(database)) === 'installed') return;
  await database.query(`${schemaVersionScript}\ncomment on schema rowgraph is '${comment}';`);
}

/** Removes everything that was installed, in one transaction. Fails if the schema `rowgraph` contains other objects. */
export async function removeSchemaTriggers(database: Queryable): Promise<void> {
  await database.query(removal);
}

/** Whether the current version of the event triggers is installed. */
export async function readTriggersState(database: Queryable): Promise<SchemaTriggersState> {
  const [row] = await database.query(commentText);
  if ((await areTriggersOn(database)) && row?.[0] === comment) return 'installed';
  return row?.[1] === 't' ? 'outdated' : 'absent';
}

/**
 * The version of the schema, or null if the database keeps none. Read it before the catalog: DDL that commits between the two
 * then shows as another version at the first batch, and is not overlooked.
 */
export async function readSchemaVersion(database: Queryable): Promise<string | null> {
  if (!(await areTriggersOn(database))) return null;
  const rows = await database.query('select coalesce(sum(weight), 0)::text from rowgraph.schema_change');
  return rows[0]?.[0] ?? null;
}

async function areTriggersOn(database: Queryable): Promise<boolean> {
  return (await database.query(triggersText))[0]?.[0] === 't';
}
