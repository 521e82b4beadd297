/** Attacks through what PostgreSQL is made to do, and on PostgreSQL itself. */
import { Client } from 'pg';
import { openPgDatabase } from '../../../src/database/pg-database.ts';
import { applyExtension } from '../../../src/extension/install-extension.ts';
import { longAliases } from '../../../test/abuse/worst-documents.ts';
import type { Attack } from '../attack.ts';
import type { Arena } from '../start-arena.ts';
import { flood, pause } from './flood.ts';

const locked = { query: '{ lockedCollection { edges { node { body } } } }' };
const call = (field: string): object => ({ query: `{ ${field} }` });

/** Holds a lock on the table `locked` during the work. */
async function whileLocked(arena: Arena, work: () => Promise<void>): Promise<void> {
  const holder = new Client(arena.server.url);
  await holder.connect();
  await holder.query('begin; lock table locked in access exclusive mode');
  await work();
  await holder.query('rollback');
  await holder.end();
}

const endOthers = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator' and pid <> pg_backend_pid()";

/** The process ids of the server's backends. */
async function backends(arena: Arena): Promise<number[]> {
  const rows = await arena.sql("select pid from pg_stat_activity where usename = 'authenticator'");
  return rows.map(({ pid }) => Number(pid));
}

async function installExtension({ server }: Arena): Promise<void> {
  const database = openPgDatabase(server.url);
  await applyExtension(database);
  await database.close();
}

export const databaseAttacks: readonly Attack[] = [
  {
    name: 'lock',
    title: 'a lock of 30 s on a table that one caller reads 100 times a second',
    seconds: 36,
    run: (arena, until, tally) => {
      const thirty = AbortSignal.any([until, AbortSignal.timeout(31_000)]);
      const readers = flood(arena, until, tally, { request: () => locked, perSecond: 100 });
      return Promise.all([readers, whileLocked(arena, () => pause(thirty, 30_000))]).then(() => {});
    },
  },
  {
    name: 'lock-many-callers',
    title: 'the same lock, where a hundred users read the table, each once a second',
    isOutage: true,
    seconds: 36,
    run: async (arena, until, tally) => {
      const users = Array.from({ length: 100 }, (_, index) => arena.userHeaders(`user-${index}`));
      const thirty = AbortSignal.any([until, AbortSignal.timeout(31_000)]);
      const readers = users.map(async (headers, index) => {
        await pause(until, index * 10);
        await flood(arena, until, tally, { headers, request: () => locked, perSecond: 1 });
      });
      await Promise.all([...readers, whileLocked(arena, () => pause(thirty, 30_000))]);
    },
  },
  {
    name: 'silent-network',
    title: 'a network that falls silent for 10 s',
    seconds: 20,
    isOutage: true,
    run: async (arena, until, tally) => {
      const readers = flood(arena, until, tally, { request: () => call('__typename accountByPk(id: 1) { id }'), perSecond: 20 });
      await pause(until, 2000);
      arena.proxy.fallSilent();
      await pause(until, 10_000);
      arena.proxy.speak();
      await readers;
    },
  },
  {
    name: 'terminated-backends',
    title: 'all backends terminated five times a second',
    isOutage: true,
    run: async (arena, until, tally) => {
      for (; !until.aborted; await pause(until, 200)) {
        const ended = await arena.sql(endOthers);
        tally.sent += 1;
        tally.count('backends terminated', ended.length);
      }
    },
  },
  {
    name: 'stopped-backends',
    title: 'all backends stopped (SIGSTOP) for 5 s',
    seconds: 15,
    isOutage: true,
    run: async (arena, until, tally) => {
      const readers = flood(arena, until, tally, { request: () => call('accountByPk(id: 1) { id }'), perSecond: 20 });
      await pause(until, 2000);
      const stopped = await backends(arena);
      for (const id of stopped) process.kill(id, 'SIGSTOP');
      await pause(until, 5000);
      for (const id of stopped) process.kill(id, 'SIGCONT');
      await readers;
    },
  },
  {
    name: 'crashed-backend',
    title: 'a backend killed (SIGKILL) every 5 s, so that PostgreSQL recovers from a crash',
    isOutage: true,
    run: async (arena, until, tally) => {
      const readers = flood(arena, until, tally, { request: () => call('accountByPk(id: 1) { id }'), perSecond: 20 });
      for (; !until.aborted; await pause(until, 5000)) {
        const [first] = await backends(arena).catch(() => []);
        if (first !== undefined) process.kill(first, 'SIGKILL');
      }
      await readers;
    },
  },
  {
    name: 'large-answers',
    title: 'answers of 200 MB, four at a time',
    run: (arena, until, tally) => flood(arena, until, tally, { request: () => call('large(bytes: 200000000)'), atOnce: 4 }),
  },
  {
    name: 'large-within',
    title: 'answers of 30 MB, compressed, four at a time',
    run: (arena, until, tally) =>
      flood(arena, until, tally, {
        headers: { ...arena.anon, 'accept-encoding': 'br, gzip' },
        request: () => call('large(bytes: 30000000)'),
        atOnce: 4,
      }),
  },
  {
    name: 'slow-functions',
    title: 'functions that sleep for 25 s, a hundred at a time',
    run: (arena, until, tally) => flood(arena, until, tally, { request: () => call('slow(seconds: 25)'), atOnce: 100 }),
  },
  {
    name: 'burning-functions',
    title: 'functions that burn 2 s of processor, twenty at a time',
    run: (arena, until, tally) => flood(arena, until, tally, { request: () => call('burn(rounds: 10000000)'), atOnce: 20 }),
  },
  {
    name: 'own-backend',
    title: 'functions that end their own backend, ten at a time',
    run: (arena, until, tally) => flood(arena, until, tally, { request: () => call('endBackend'), atOnce: 10 }),
  },
  {
    name: 'idempotency-keys',
    title:
      'mutations whose responses are long aliases, each with a new idempotency key, five at a time from anonymous callers and from a user',
    run: async (arena, until, tally) => {
      await installExtension(arena);
      const request = (index: number) => ({ ...longAliases(190, 170), extensions: { idempotencyKey: `key-${index}` } });
      const callers = [arena.anon, arena.userHeaders('attacker')];
      await Promise.all(callers.map((headers) => flood(arena, until, tally, { headers, request, atOnce: 5 })));
      const [row] = await arena.sql("select pg_total_relation_size('rowgraph.idempotency_key') / 1048576 as megabytes");
      tally.notes.push(`${row?.megabytes} MB stored`);
    },
  },
  {
    name: 'raising-functions',
    title: 'functions that raise 100 KB, ten at a time',
    run: (arena, until, tally) =>
      flood(arena, until, tally, {
        request: (index) => ({ query: 'query ($m: String!) { raise(message: $m) }', variables: { m: `${index} ${'x'.repeat(100_000)}` } }),
        atOnce: 10,
      }),
  },
  {
    name: 'ddl-storm',
    title: 'DDL twenty times a second',
    run: async (arena, until, tally) => {
      for (let index = 0; !until.aborted; index++, await pause(until, 50)) {
        await arena.sql(
          `create table if not exists storm_${index} (id int primary key); drop table if exists storm_${Math.max(0, index - 5)}`,
        );
        tally.sent += 1;
      }
    },
  },
  {
    name: 'hang-ups',
    title: 'slow queries whose clients hang up, 200 a second',
    run: (arena, until, tally) =>
      flood(arena, until, tally, { request: () => call('slow(seconds: 5)'), perSecond: 200, hangUpAfter: (index) => (index * 37) % 100 }),
  },
  {
    name: 'one-caller',
    title: "one caller's thousand requests at a time",
    run: (arena, until, tally) => flood(arena, until, tally, { request: () => call('slow(seconds: 0.05)'), atOnce: 1000 }),
  },
  {
    name: 'connection-limit',
    title: 'three connections allowed at the server, a pool of ten, fifty requests at a time',
    isOutage: true,
    run: async (arena, until, tally) => {
      await arena.sql('alter role authenticator connection limit 3');
      await arena.sql(endOthers);
      await flood(arena, until, tally, { request: () => call('accountByPk(id: 1) { id }'), atOnce: 50 });
      await arena.sql('alter role authenticator connection limit -1');
    },
  },
];
