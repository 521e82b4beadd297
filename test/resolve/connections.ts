/**
 * Connections of every kind that `graph.resolve` takes, over databases of one setup: clients of `pg`, of its pool and of another copy of the
 * package, a PGlite and its transactions.
 */
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PGlite, Transaction } from '@electric-sql/pglite';
import { type Client, Pool, type PoolClient } from 'pg';
import type { ExecutionResult } from '../../src/engine/request.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { startTestDatabases, type TestDatabase } from '../support/test-databases.ts';

const setup = `
  create schema app; grant usage on schema app to anon, authenticated;
  create table entry (id int primary key, owner text, amount int constraint positive check (amount > 0), parent int constraint parent_exists references entry deferrable initially deferred);
  insert into entry values (1, 'ada', 1), (2, 'bob', 2);
  create table guarded (id int primary key, owner text);
  insert into guarded values (1, 'ada'), (2, 'bob');
  alter table guarded enable row level security;
  create policy own on guarded using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
  create table app.entry (id int primary key, app_only text);
  insert into app.entry values (7, 'app');
  create table secret (id int primary key); revoke all on secret from anon;
  create function who() returns text stable language sql as $$ select current_user::text $$;
  create function raise() returns text volatile language plpgsql as $$ begin insert into entry values (99, 'raise', 1); raise exception 'no'; end $$;
  create function slow() returns text volatile language plpgsql as $$ begin insert into entry values (98, 'slow', 1); perform pg_sleep(600); return 'late'; end $$;
`;

/** A connection, whichever it is, and a graph over its database. */
export interface Connection {
  readonly client: Parameters<Rowgraph['resolve']>[0];
  readonly graph: Rowgraph;
  /** Runs SQL past rowgraph. */
  run(sql: string): Promise<Record<string, unknown>[]>;
}

export interface Connections {
  readonly database: TestDatabase;
  readonly graph: Rowgraph;
  /** A graph over the PGlite. */
  readonly embedded: Rowgraph;
  /** By kind; the PGlite itself is one of them. */
  readonly open: Readonly<Record<ConnectionKind, Connection>>;
  /** Begins a transaction on a connection, works in it, and rolls it back. */
  inTransaction(kind: ConnectionKind, work: (connection: Connection) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export const connectionKinds = ['client of pg', 'client of a pool', 'client of another copy of pg', 'PGlite'] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

/** Starts the databases and opens a connection of each kind. */
export async function openConnections(): Promise<Connections> {
  const [databases, pglite] = await Promise.all([startTestDatabases(), startPglite()]);
  const database = await databases.create(setup);
  await pglite.exec(rolesSql + grantsSql + setup);
  const url = database.url.replace('authenticator', 'postgres');
  const pool = new Pool({ connectionString: url });
  pool.on('error', () => {});
  const pooled = await pool.connect();
  const copy = await connectOtherCopy(url);
  const graph = await createRowgraph({ database: database.url });
  const embedded = await createRowgraph({ database: pglite });
  const open = {
    'client of pg': ofPg(await database.connect(), graph),
    'client of a pool': ofPg(pooled, graph),
    'client of another copy of pg': ofPg(copy.client, graph),
    PGlite: ofPglite(pglite, embedded),
  };
  return {
    database,
    graph,
    embedded,
    open,
    async inTransaction(kind, work) {
      if (kind !== 'PGlite') return inPgTransaction(open[kind], work);
      await pglite.transaction(async (transaction) => {
        await work(ofPglite(transaction, embedded));
        await transaction.rollback();
      });
    },
    async close() {
      pooled.release();
      await Promise.all([copy.close(), pool.end(), graph.close(), embedded.close()]);
      await Promise.all([pglite.close(), databases.close()]);
    },
  };
}

async function inPgTransaction(connection: Connection, work: (connection: Connection) => Promise<void>): Promise<void> {
  await connection.run('begin');
  try {
    await work(connection);
  } finally {
    await connection.run('rollback');
  }
}

type Rows = Record<string, unknown>[];

function ofPg(client: Client | PoolClient, graph: Rowgraph): Connection {
  const run = async (sql: string): Promise<Rows> => ([await client.query(sql)].flat() as { rows: Rows }[]).at(-1)?.rows ?? [];
  return { client, graph, run };
}

function ofPglite(client: PGlite | Transaction, graph: Rowgraph): Connection {
  return { client, graph, run: async (sql) => ((await client.exec(sql)).at(-1)?.rows ?? []) as Rows };
}

/** A client of a second copy of `pg`, whose classes are others than ours. */
async function connectOtherCopy(url: string): Promise<{ client: Client; close(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-pg-copy-'));
  const own = path.dirname(path.dirname(new URL(import.meta.resolve('pg')).pathname));
  await cp(own, path.join(folder, 'node_modules/pg'), { recursive: true, dereference: true });
  for (const name of ['pg-connection-string', 'pg-pool', 'pg-protocol', 'pg-types', 'pgpass']) {
    await symlink(path.join(path.dirname(own), name), path.join(folder, 'node_modules', name));
  }
  const copy = (await import(pathToFileURL(path.join(folder, 'node_modules/pg/lib/index.js')).href)) as {
    default: { Client: typeof Client };
  };
  assert.notEqual(copy.default.Client, (await import('pg')).Client);
  const client = new copy.default.Client(url);
  await client.connect();
  const close = async (): Promise<void> => {
    await client.end();
    await rm(folder, { recursive: true, force: true });
  };
  return { client, close };
}

/** Data, or the code of the first error. */
export function outcomeOf({ data, errors }: ExecutionResult): unknown {
  return errors ? errors[0]?.extensions.code : JSON.parse(JSON.stringify(data));
}
