/** The PostgreSQL of the measurements: on disk, with fsync and logical replication; databases are set up for a method. */
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { applyExtension } from '../../src/extension/install-extension.ts';
import { installLive, type LiveMethod } from '../../src/extension/install-live.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../../test/support/test-databases.ts';

export async function startServer(): Promise<TestDatabases> {
  const settings = {
    shared_buffers: '256MB',
    wal_level: 'logical',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    max_wal_size: '4GB',
  };
  const databases = await startTestDatabases({ onDisk: true, settings });
  await (await databases.create('')).run('alter role authenticator replication');
  return databases;
}

/** A database that is set up for a method; `poll` needs nothing. */
export async function createDatabase(databases: TestDatabases, setup: string, method: LiveMethod | 'poll'): Promise<TestDatabase> {
  const database = await databases.create(setup);
  await database.run('analyze');
  if (method === 'poll') return database;
  const admin = openPgDatabase(superuserUrl(database), { poolSize: 1 });
  try {
    await applyExtension(admin);
    const { uncovered } = await installLive(admin, method);
    if (uncovered.length > 0) throw new Error(`Not covered: ${JSON.stringify(uncovered)}`);
  } finally {
    await admin.close();
  }
  return database;
}

export function superuserUrl({ url }: TestDatabase): string {
  return url.replace('authenticator@', 'postgres@');
}
