/** `rowgraph serve --workers`: several processes behind one port, against a real PostgreSQL server. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { makeFolder, type RunningCommand, removeFolder, runCommand, startCommand } from './run-command.ts';

const secret = 'a secret that has more than 32 characters';
const patienceMilliseconds = 20_000;
let home: string;
let server: PostgresServer;
let superuser: pg.Client;
let databaseUrl: string;

before(async () => {
  home = await makeFolder();
  server = await startPostgres();
  superuser = new pg.Client(server.url);
  await superuser.connect();
  await superuser.query(`${rolesSql} ${grantsSql} create table letter (id int primary key); insert into letter values (1);
    create function slow() returns int stable language sql as 'select 7 from pg_sleep(1)';`);
  databaseUrl = server.url.replace('postgres@', 'authenticator@');
});
after(async () => {
  await superuser.end();
  await server.stop();
  await removeFolder(home);
});

const environment = { ROWGRAPH_JWT_SECRET: secret, ROWGRAPH_PORT: '0', ROWGRAPH_POOL_SIZE: '2' };

interface Service {
  readonly command: RunningCommand;
  /** Sends a query on a connection of its own, which the primary hands to the next worker. */
  ask(query: string): Promise<unknown>;
  /** The processes that answer, as each says in its metrics. */
  pids(): Promise<Set<number>>;
}

async function startService(count: number): Promise<Service> {
  const command = startCommand(['serve', '--workers', String(count), '--database-url', databaseUrl], { home, environment });
  const line = await command.waitFor(/\n/);
  const [, url = ''] = new RegExp(`^rowgraph serves (\\S+) from ${count} processes\\n$`).exec(line) ?? [];
  assert.notEqual(url, '', line);
  const { stdout } = await runCommand(['keys', '--role', 'anon'], { home, environment });
  const headers = { 'content-type': 'application/json', apiKey: stdout.trim().split(/\s+/).at(-1) ?? '' };
  const pidOf = async (): Promise<number> => {
    // Each process started at a time of its own, to the millisecond.
    const metrics = await send(new URL('/metrics', url), 'GET', {}, '');
    return Number(/^process_start_time_seconds (\S+)$/m.exec(metrics)?.[1]);
  };
  return {
    command,
    ask: async (query) => JSON.parse(await send(new URL(url), 'POST', headers, JSON.stringify({ query }))) as unknown,
    pids: async () => new Set(await Promise.all(Array.from({ length: 4 * count }, pidOf))),
  };
}

function send(url: URL, method: string, headers: Record<string, string>, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, async (response) => {
      try {
        resolve((await response.setEncoding('utf8').toArray()).join(''));
      } catch (error) {
        reject(error);
      }
    });
    sent.once('error', reject).end(body);
  });
}
