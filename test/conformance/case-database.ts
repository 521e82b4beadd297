/**
 * Fresh databases for the cases, of either kind: a new database on one shared PostgreSQL server, or a new PGlite. Each comes with the
 * roles and grants that the setups rely on.
 */
import pg from 'pg';
import type { RowgraphOptions } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { startPostgres } from '../support/postgres.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import type { ServerAbilities } from './read-cases.ts';

export type DatabaseKind = 'pglite' | 'postgres';

/** The database of one case. */
export interface CaseDatabase {
  /** What `createRowgraph` takes: the URL of the login role `authenticator`, or the PGlite. */
  readonly target: RowgraphOptions['database'];
  /** Runs SQL text of any number of statements as the superuser; the rows of the last one, as arrays. */
  run(sql: string): Promise<unknown[][]>;
  close(): Promise<void>;
}

export interface DatabaseSource extends ServerAbilities {
  readonly kind: DatabaseKind;
  open(): Promise<CaseDatabase>;
  stop(): Promise<void>;
}

/** Starts what gives out fresh databases of a kind. */
export async function startDatabaseSource(kind: DatabaseKind): Promise<DatabaseSource> {
  const { open, stop } = kind === 'postgres' ? await startServerSource() : { open: openPglite, stop: async () => undefined };
  const probe = await open();
  const [versions] = await probe.run(`select current_setting('server_version_num')::int / 10000`);
  const extensions = await probe.run('select name from pg_available_extensions');
  await probe.close();
  return { kind, version: Number(versions?.[0]), extensions: new Set(extensions.map(([name]) => String(name))), open, stop };
}

async function startServerSource() {
  const server = await startPostgres();
  const admin = new pg.Pool({ connectionString: server.url });
  admin.on('error', () => undefined);
  await admin.query(rolesSql);
  // Many times faster than the other strategy, and the only one that PostgreSQL 14 has.
  const strategy = server.version >= 15 ? 'strategy file_copy' : '';
  let count = 0;
  const open = async (): Promise<CaseDatabase> => {
    const name = `case_${++count}`;
    await admin.query(`create database ${name} template template0 ${strategy}`);
    const client = await connect(`postgres://postgres@127.0.0.1:${server.port}/${name}`);
    await client.query(grantsSql);
    // One after the other, as a connection takes them.
    let last: Promise<unknown> = Promise.resolve();
    const run = async (sql: string): Promise<unknown[][]> => {
      const answered = last.then(() => client.query({ text: sql, rowMode: 'array' }));
      last = answered.catch(() => undefined);
      const result = (await answered) as unknown as pg.QueryArrayResult | pg.QueryArrayResult[];
      return (Array.isArray(result) ? result.at(-1)?.rows : result.rows) ?? [];
    };
    return { target: `postgres://authenticator@127.0.0.1:${server.port}/${name}`, run, close: () => client.end() };
  };
  const stop = async (): Promise<void> => {
    await admin.end();
    await server.stop();
  };
  return { open, stop };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  // Notices are of no interest, and the end of the server is not an error.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function openPglite(): Promise<CaseDatabase> {
  const database = await startPglite();
  await database.exec(rolesSql + grantsSql);
  const run = async (sql: string): Promise<unknown[][]> =>
    ((await database.exec(sql, { rowMode: 'array' })).at(-1)?.rows ?? []) as unknown[][];
  return { target: database, run, close: () => database.close() };
}
