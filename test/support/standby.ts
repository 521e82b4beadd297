/** Starts standbys of test servers, by streaming replication, and ends and promotes servers as failovers do. */
import { execFile } from 'node:child_process';
import { chown, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { type PostgresOptions, type PostgresServer, type ServerUser, startPostgres } from './postgres.ts';
import { until } from './until.ts';

const run = promisify(execFile);

/** Starts a standby that streams from a server. Takes about a second. */
export function startStandby(
  { url, port, version = 15 }: Pick<PostgresServer, 'url' | 'port'> & { readonly version?: number },
  settings: PostgresOptions['settings'] = {},
): Promise<PostgresServer> {
  return startPostgres({
    settings: { wal_retrieve_retry_interval: '100ms', ...settings },
    provideData: async (folder, user) => {
      await copyData(url, version, folder, user);
      await write(path.join(folder, 'postgresql.auto.conf'), `primary_conninfo = '${addressOf(port)}'\n`, user);
    },
  });
}

function addressOf(port: number): string {
  return `host=127.0.0.1 port=${port} user=postgres`;
}

/** A base backup by hand (https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP). */
async function copyData(url: string, version: number, folder: string, user: ServerUser): Promise<void> {
  const [start, stop] = version < 15 ? ['start_backup', 'stop_backup'] : ['backup_start', 'backup_stop'];
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query(
      `select current_setting('data_directory') as source, pg_${start}('standby', true${version < 15 ? ', false' : ''})`,
    );
    // Files may come and go meanwhile: what is written meanwhile is replayed.
    await run('cp', ['-Rp', rows[0].source, folder], user).catch(() => undefined);
    const { rows: label } = await client.query(`select labelfile from pg_${stop}(false)`);
    for (const name of ['postmaster.pid', 'postmaster.opts']) await rm(path.join(folder, name), { force: true });
    await write(path.join(folder, 'backup_label'), label[0].labelfile, user);
    await write(path.join(folder, 'standby.signal'), '', user);
  } finally {
    await client.end();
  }
}

async function write(file: string, text: string, { uid, gid }: ServerUser): Promise<void> {
  await writeFile(file, text);
  if (uid !== undefined && gid !== undefined) await chown(file, uid, gid);
}

/** Ends a server as a crash of its machine does, as far as its clients can tell. */
export async function killServer({ url }: PostgresServer): Promise<void> {
  const folder = await ask(url, "select current_setting('data_directory')");
  const [pid] = (await readFile(path.join(folder, 'postmaster.pid'), 'utf8')).split('\n');
  process.kill(Number(pid), 'SIGKILL');
}

/** Standbys of a primary that has ended, once nothing more comes from it; first the one that has received most of its log. */
export async function sortByReceived(standbys: readonly PostgresServer[]): Promise<PostgresServer[]> {
  const received = new Map<PostgresServer, number>();
  for (const standby of standbys) {
    await until(async () => (await ask(standby.url, 'select count(*) from pg_stat_wal_receiver')) === '0');
    received.set(standby, Number(await ask(standby.url, "select pg_last_wal_receive_lsn() - '0/0'")));
  }
  return standbys.toSorted((one, other) => received.get(other)! - received.get(one)!);
}

/** Resolves when the standby is a primary. */
export async function promote({ url }: PostgresServer): Promise<void> {
  await ask(url, 'select pg_promote()');
}

/** Lets a standby stream from another server from now on. */
export async function follow({ url }: PostgresServer, { port }: PostgresServer): Promise<void> {
  await ask(url, `alter system set primary_conninfo = '${addressOf(port)}'`);
  await ask(url, 'select pg_reload_conf()');
}

/** The first value of the result, as text. */
export async function ask(url: string, text: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const results = [await client.query({ text, rowMode: 'array' })].flat();
    return String(results.at(-1)?.rows[0]?.[0]);
  } finally {
    await client.end();
  }
}
