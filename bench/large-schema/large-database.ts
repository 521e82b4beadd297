import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { startPostgres } from '../../test/support/postgres.ts';
import { Figures } from './measured-server.ts';

/** A PostgreSQL with many tables, for one workload. */

export interface LargeDatabase {
  /** The URL with the login role as which servers connect. */
  readonly url: string;
  /** Runs SQL as the superuser. */
  run(sql: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts PostgreSQL with this many tables, and runs more SQL in it. */
export async function startLargeDatabase(tables: number, more = ''): Promise<LargeDatabase> {
  // Each table that a transaction creates takes locks.
  const postgres = await startPostgres({ onDisk: true, settings: { max_locks_per_transaction: '1000' } });
  const client = new Client({ connectionString: postgres.url });
  const stop = async (): Promise<void> => {
    await client.end();
    await postgres.stop();
  };
  try {
    await client.connect();
    await client.query(`set client_min_messages = warning; set bench.tables = ${tables}`);
    await client.query(await readFile(new URL('schema.sql', import.meta.url), 'utf8'));
    await client.query(more);
    await client.query('analyze');
  } catch (error) {
    await stop();
    throw error;
  }
  const run = async (sql: string): Promise<void> => {
    await client.query(sql);
  };
  return { url: postgres.url.replace('postgres@', 'authenticator@'), run, stop };
}

/** Defines a workload of `npm run bench:large`. */

export interface LargeWorkload {
  readonly name: string;
  /** What is measured, for the report. */
  readonly about: string;
  run(): Promise<Figures>;
}

/** A workload over a database of its own with this many tables, set up by further SQL. */
export function overDatabase(
  { name, about, tables, sql = '' }: { readonly name: string; readonly about: string; readonly tables: number; readonly sql?: string },
  measure: (database: LargeDatabase, figures: Figures) => Promise<void>,
): LargeWorkload {
  const run = async (): Promise<Figures> => {
    const figures = new Figures();
    const database = await startLargeDatabase(tables, sql);
    try {
      await measure(database, figures);
    } finally {
      await database.stop();
    }
    return figures;
  };
  return { name, about, run };
}
