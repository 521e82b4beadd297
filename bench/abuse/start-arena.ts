/**
 * The arena of an attack: a PostgreSQL, a proxy in front of it that can fall silent, and a `rowgraph serve` of some checkout, restarted
 * when it dies.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { abuseSchema } from '../../test/abuse/worst-documents.ts';
import { freePort } from '../../test/support/free-port.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { grantsSql, rolesSql } from '../../test/support/roles.ts';
import { type SilentProxy, startSilentProxy } from '../../test/support/silent-proxy.ts';
import { secret, signToken } from '../servers/caller.ts';
import { MemoryWatch } from './memory-watch.ts';

export interface ArenaDatabase {
  readonly server: PostgresServer;
  /** Runs SQL as the superuser. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

export interface Arena extends ArenaDatabase {
  readonly proxy: SilentProxy;
  readonly port: number;
  readonly url: string;
  /** Headers of an anonymous caller. */
  readonly anon: Readonly<Record<string, string>>;
  /** Headers of a user. */
  userHeaders(subject: string, role?: string): Record<string, string>;
  /** The server, or the first process of its workers. */
  serverProcess(): ChildProcess;
  /** How the server ended, each time it died. */
  readonly deaths: readonly string[];
  /** The peak of the server's memory, in MB. */
  memory(): number;
  /** The longest turn of its event loop since `forgetBlocks`, in milliseconds. */
  longestBlock(): number;
  forgetBlocks(): void;
  /** The server's log. */
  log(): string;
  close(): Promise<void>;
}

/** Starts PostgreSQL with the tables and rows that all attacks share. */
export async function startArenaDatabase(): Promise<ArenaDatabase> {
  const server = await startPostgres();
  const connect = async (): Promise<Client> => {
    const opened = new Client(server.url);
    opened.on('error', () => {});
    await opened.connect();
    return opened;
  };
  let client = await connect();
  await client.query(rolesSql);
  await client.query(grantsSql);
  await client.query(abuseSchema);
  await client.query(readFileSync(new URL('arena.sql', import.meta.url), 'utf8'));
  return {
    server,
    sql: async (text) => {
      // PostgreSQL ends all connections when one of its processes crashes.
      const result = await client.query<Record<string, unknown>>(text).catch(async (error: { code?: string }) => {
        if (error.code !== undefined && !error.code.startsWith('57')) throw error;
        client = await connect();
        return client.query<Record<string, unknown>>(text);
      });
      return result.rows;
    },
    stop: async () => {
      await client.end().catch(() => {});
      await server.stop();
    },
  };
}

const preload = `--import=${new URL('note-blocks.ts', import.meta.url).href}`;

/** Serves the database with rowgraph from a checkout. */
export async function openArena(database: ArenaDatabase, root: string, flags: readonly string[] = []): Promise<Arena> {
  const proxy = await startSilentProxy(database.server.port);
  const port = await freePort();
  const folder = mkdtempSync(path.join(tmpdir(), 'rowgraph-abuse-'));
  const blocks = path.join(folder, 'blocks');
  const settings = { 'database-url': urlThrough(proxy, database), port, 'jwt-secret': secret };
  const serve = [path.join(root, 'src/cli/main.ts'), 'serve', ...Object.entries(settings).map(([flag, value]) => `--${flag}=${value}`)];
  const deaths: string[] = [];
  let log = '';
  let isOver = false;
  let child: ChildProcess;
  const start = (): void => {
    child = spawn(process.execPath, [...serve, ...flags], {
      cwd: folder,
      env: { ...process.env, ABUSE_BLOCKS: blocks, NODE_OPTIONS: preload },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-200_000);
    });
    child.once('exit', (code, signal) => {
      if (isOver) return;
      deaths.push(signal ?? `exit code ${code}`);
      setTimeout(() => isOver || start(), 1000);
    });
  };
  start();
  const killServer = (): void => void child.kill('SIGKILL');
  process.once('exit', killServer);
  const memory = new MemoryWatch(() => child.pid);
  await untilItServes(port, () => log);
  return {
    ...database,
    proxy,
    port,
    url: `http://127.0.0.1:${port}/graphql/v1`,
    anon: { apikey: signToken({ role: 'anon' }, secret) },
    userHeaders: (subject, role = 'authenticated') => ({
      apikey: signToken({ role: 'anon' }, secret),
      authorization: `Bearer ${signToken({ role, sub: subject }, secret)}`,
    }),
    serverProcess: () => child,
    deaths,
    memory: () => memory.peak(),
    longestBlock: () => readNumber(blocks),
    forgetBlocks: () => {
      rmSync(blocks, { force: true });
    },
    log: () => log,
    close: async () => {
      isOver = true;
      memory.stop();
      process.removeListener('exit', killServer);
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        const late = setTimeout(killServer, 20_000);
        await ended;
        clearTimeout(late);
      }
      await proxy.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function urlThrough({ port }: SilentProxy, { server }: ArenaDatabase): string {
  return server.url.replace(/postgres@127\.0\.0\.1:\d+/, `authenticator@127.0.0.1:${port}`);
}

async function untilItServes(port: number, log: () => string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const ready = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (ready) return;
    await sleep(100);
  }
  throw new Error(`the server did not start: ${log()}`);
}

function readNumber(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}
