/** The benchmark's own PostgreSQL with its data: started for the run, and removed after it. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { startPostgres } from '../../test/support/postgres.ts';

export interface BenchmarkDatabase {
  readonly superuserUrl: string;
  readonly authenticatorUrl: string;
  readonly version: string;
  /** Whether it has pgvector. */
  readonly hasVectors: boolean;
  /** The postmaster; NaN if /proc does not show it. */
  readonly processId: number;
  /** Runs a script as the superuser. */
  run(script: string): Promise<void>;
  stop(): Promise<void>;
}

/** Also shown in the report. What is not here is the server's default: JIT is on where the server has it, as it is for users. */
export const databaseSettings = {
  shared_buffers: '1GB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_wal_size: '4GB',
} as const;

/** Starts the server and loads the data, which takes about ten seconds. */
export async function startDatabase(): Promise<BenchmarkDatabase> {
  const server = await startPostgres({ onDisk: true, settings: databaseSettings });
  const client = new Client({ connectionString: server.url });
  await client.connect();
  for (const script of ['schema.sql', 'seed.sql']) await client.query(await readFile(new URL(script, import.meta.url), 'utf8'));
  const { rowCount } = await client.query("select from pg_available_extensions where name = 'vector'");
  const hasVectors = rowCount === 1;
  if (hasVectors) await client.query(await readFile(new URL('vectors.sql', import.meta.url), 'utf8'));
  await client.query('vacuum (analyze)');
  await client.query('checkpoint');
  const { rows } = await client.query<{ version: string; backend: number }>(
    "select current_setting('server_version') as version, pg_backend_pid() as backend",
  );
  const [{ version, backend } = { version: '', backend: 0 }] = rows;
  return {
    superuserUrl: server.url,
    authenticatorUrl: server.url.replace('postgres@', 'authenticator@'),
    version,
    hasVectors,
    processId: parentOf(backend),
    run: async (script) => void (await client.query(script)),
    stop: async () => {
      await client.end();
      await server.stop();
    },
  };
}

function parentOf(processId: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1]);
  } catch {
    return Number.NaN;
  }
}
