/**
 * Databases on a throw-away PostgreSQL server, for end-to-end tests: each has the roles and grants of `roles.ts` and the tables that a test
 * asks for. Out: the URL for `createRowgraph`, and connections as any user.
 */
import { Client } from 'pg';
import { type PostgresOptions, startPostgres } from './postgres.ts';
import { grantsSql, rolesSql } from './roles.ts';
import { until } from './until.ts';

export interface TestDatabase {
  readonly name: string;
  readonly port: number;
  /** PostgreSQL's major version. */
  readonly version: number;
  /** The URL with the login role `authenticator`, which rowgraph is meant to use. */
  readonly url: string;
  /** Runs SQL with any number of statements as the superuser; returns the rows of the last one. */
  run(sql: string): Promise<Record<string, unknown>[]>;
  /** Waits until this many of rowgraph's backends run a statement that contains this text, or wait for a lock in one. */
  untilRunning(text: string, count: number): Promise<void>;
  untilLocked(text: string, count: number): Promise<void>;
  /** Opens a connection, which is closed with the databases if the test has not closed it. */
  connect(user?: string): Promise<Client>;
}

export interface TestDatabases {
  readonly port: number;
  /** PostgreSQL's major version. */
  readonly version: number;
  /** See `PostgresServer`. */
  readonly extensionFolder: string | null;
  /** Creates a database and runs the setup in it as the superuser. */
  create(setup: string): Promise<TestDatabase>;
  /** See `PostgresServer`. All connections are lost, also those of `run`. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const backends = "select from pg_stat_activity where state = 'active' and usename = 'authenticator'";

/** Starts a server with the roles; databases are created one by one. */
export async function startTestDatabases(options: PostgresOptions = {}): Promise<TestDatabases> {
  const server = await startPostgres(options);
  const clients: Client[] = [];
  const connect = async (user: string, name: string): Promise<Client> => {
    const client = new Client(urlOf(server.port, user, name));
    // A connection that a test kills must not end the process.
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  };
  let main = await connect('postgres', 'postgres');
  await main.query(rolesSql);
  // As in test/conformance/case-database.ts.
  const strategy = server.version >= 15 ? 'strategy file_copy' : '';
  let count = 0;
  const create = async (setup: string): Promise<TestDatabase> => {
    const name = `test_${++count}`;
    await main.query(`create database ${name} template template0 ${strategy}`);
    const admin = await connect('postgres', name);
    const run: TestDatabase['run'] = async (sql) => {
      const result: unknown = await admin.query(sql);
      return (Array.isArray(result) ? result.at(-1) : result).rows;
    };
    await run(grantsSql + setup);
    const url = urlOf(server.port, 'authenticator', name);
    const untilBackends = (count: number, condition: string): Promise<void> =>
      until(async () => (await run(`${backends} and datname = '${name}' and ${condition}`)).length === count);
    return {
      name,
      port: server.port,
      version: server.version,
      url,
      run,
      untilRunning: (text, count) => untilBackends(count, `query like '%${text}%'`),
      untilLocked: (text, count) => untilBackends(count, `wait_event_type = 'Lock' and query like '%${text}%'`),
      connect: (user = 'postgres') => connect(user, name),
    };
  };
  const restart = async (): Promise<void> => {
    await server.restart();
    main = await connect('postgres', 'postgres');
  };
  const close = async (): Promise<void> => {
    await Promise.allSettled(clients.map((client) => client.end()));
    await server.stop();
  };
  const { port, version, extensionFolder } = server;
  return { port, version, extensionFolder, create, restart, close };
}

function urlOf(port: number, user: string, database: string): string {
  return `postgres://${user}@127.0.0.1:${port}/${database}`;
}
