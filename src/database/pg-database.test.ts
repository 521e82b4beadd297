import assert from 'node:assert/strict';
import { after, before, describe, mock, test } from 'node:test';
import { Pool } from 'pg';
import { type BatchProxy, startBatchProxy } from '../../test/support/batch-proxy.ts';
import { startKeyProxy } from '../../test/support/key-proxy.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { rolesSql } from '../../test/support/roles.ts';
import { textsOf } from '../../test/support/texts-of.ts';
import { until } from '../../test/support/until.ts';
import { Deadline } from '../budget/deadline.ts';
import { DatabaseError } from '../errors/database-error.ts';
import type { Batch, BatchResult, Database, QueryOptions, Session } from './database.ts';
import { openPgDatabase, type PgDatabaseOptions } from './pg-database.ts';
import type { PgPool } from './wire/pg-client.ts';

let server: PostgresServer;
let proxy: BatchProxy;
let admin: Database;

before(async () => {
  server = await startPostgres();
  proxy = await startBatchProxy(server.port);
  admin = openPgDatabase(server.url, { poolSize: 2 });
  await admin.query(`${rolesSql}
    create table entry (id int primary key, other int references entry deferrable initially deferred);
    create table typed (value int);
    insert into typed values (7);
    grant all on entry, typed to anon, authenticated;
    grant create on schema public to authenticated;`);
});

after(async () => {
  await admin.close();
  await proxy.stop();
  await server.stop();
});

const session = (role = 'anon', claims = '{}'): Session => ({ role, claims, searchPath: 'public', version: null });
const batch = (statements: readonly (string | readonly [text: string, ...parameters: (string | null)[]])[], as = session()): Batch => ({
  session: as,
  statements: statements.map((entry) => {
    const [text, ...parameters] = typeof entry === 'string' ? [entry] : entry;
    return { text, parameters };
  }),
});

/** On a loaded machine, work that is sent at once waits longer for its turn than would be right in production. */
const patience: PgDatabaseOptions = { queueTimeoutMillis: 3_600_000 };

/** Runs a test on a database of its own that logs in as `authenticator`, through the proxy. */
async function withDatabase(options: PgDatabaseOptions, run: (database: Database) => Promise<void>): Promise<void> {
  const database = openPgDatabase(`postgres://authenticator@127.0.0.1:${proxy.port}/postgres`, { ...patience, ...options });
  try {
    await run({
      sessions: null,
      run: async (batch) => textsOf(await database.run(batch)),
      query: (text, parameters, options) => database.query(text, parameters, options),
      listen: (channel, onNotification) => database.listen(channel, onNotification),
      tryOut: (as, timeoutMillis, work) => database.tryOut(as, timeoutMillis, work),
      readCaches: () => database.readCaches(),
      readStatistics: () => database.readStatistics(),
      close: () => database.close(),
    });
  } finally {
    await database.close();
  }
}

const failure =
  (sqlstate: string | null, message?: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof DatabaseError, String(error));
    assert.equal(error.sqlstate, sqlstate, error.message);
    if (message) assert.match(error.message, message);
    return true;
  };

test('a pool with its own pipelining is rejected', () => {
  const pool = new Pool({ connectionString: server.url });
  Object.assign(pool.options, { pipeline: true });
  assert.throws(() => openPgDatabase(pool as unknown as PgPool), /cannot use a pool with the option "pipeline"/);
});

test('`tryOut` fails like other work if the server cannot be reached', async () => {
  const database = openPgDatabase('postgres://nobody@127.0.0.1:1/none');
  await assert.rejects(
    database.tryOut(session(), 60_000, async () => 'done'),
    failure(null, /ECONNREFUSED/),
  );
  await database.close();
});

const whoAmI = "select current_user::text, current_setting('request.jwt.claims'), current_setting('search_path')";

describe('a batch', () => {
  test('returns the first row of each statement, run as the caller', () =>
    withDatabase({}, async (database) => {
      const results = await database.run(
        batch(
          [whoAmI, ['select $1::text, null, generate_series(1, 3)::text', 'ä"€😀'], 'select 1 where false'],
          session('anon', '{"sub":"x"}'),
        ),
      );
      assert.deepEqual(results, [['anon', '{"sub":"x"}', 'public'], ['ä"€😀', null, '1'], []]);
      assert.deepEqual(await database.query("select session_user::text, current_user::text, current_setting('request.jwt.claims', true)"), [
        ['authenticator', 'authenticator', ''],
      ]);
    }));

  test('is one transaction: all or nothing', () =>
    withDatabase({}, async (database) => {
      const insert = (id: number): string => `insert into entry values (${id})`;
      await assert.rejects(database.run(batch([insert(1), 'select 1/0', insert(2)])), failure('22012', /division by zero/));
      await assert.rejects(database.run(batch([insert(1), 'insert into entry values (2, 99)'])), failure('23503', /violates foreign key/));
      assert.deepEqual(await admin.query('select count(*) from entry'), [['0']]);
      const [, later] = await database.run(batch([`${insert(1)} returning id`, 'select count(*) from entry', 'delete from entry']));
      assert.deepEqual(later, ['1'], 'a later statement sees an earlier one');
    }));

  test('reports everything that PostgreSQL says of an error', () =>
    withDatabase({}, async (database) => {
      await assert.rejects(database.run(batch(['insert into entry values (1)', 'insert into entry values (1)'])), (error) => {
        assert.ok(error instanceof DatabaseError);
        const { sqlstate, constraint, table, detail } = error;
        assert.deepEqual(
          { sqlstate, constraint, table, detail },
          {
            sqlstate: '23505',
            constraint: 'entry_pkey',
            table: 'entry',
            detail: 'Key (id)=(1) already exists.',
          },
        );
        return true;
      });
    }));

  test('is rejected for a role that cannot be assumed', () =>
    withDatabase({}, async (database) => {
      await assert.rejects(database.run(batch([whoAmI], session('nobody'))), failure('0P000', /does not exist/));
      await assert.rejects(database.run(batch([whoAmI], session('postgres'))), failure('42501', /permission denied to set role/));
    }));

  test('is rejected if a statement has too many parameters', () =>
    withDatabase({}, async (database) => {
      const many: [string, ...string[]] = ['select $1::text', ...Array.from({ length: 65_536 }, () => '')];
      await assert.rejects(database.run(batch([many])), failure('54000'));
      await assert.rejects(database.query(many[0], many.slice(1)), failure('54000'));
      assert.equal((await database.run(batch([whoAmI]))).length, 1);
    }));

  test('never has the role or the claims of another, whatever fails in between', () =>
    withDatabase({ poolSize: 2, statementCacheSize: 4 }, async (database) => {
      const failing = [
        'select 1/0',
        'select * from nowhere',
        'select "',
        'select rolpassword from pg_authid',
        'insert into entry values (5, 99)',
      ];
      const runs = Array.from({ length: 600 }, async (_, index) => {
        const caller = session(index % 2 ? 'anon' : 'authenticated', `{"sub":"${index}"}`);
        if (index % 7 === 3) await assert.rejects(database.run(batch([whoAmI, failing[index % failing.length]!, whoAmI], caller)));
        else if (index % 7 === 5) assert.deepEqual(await database.query('select current_user::text'), [['authenticator']]);
        else {
          const results = await database.run(batch([whoAmI, `select ${index % 9}`, whoAmI], caller));
          assert.deepEqual([results[0], results[2]], Array(2).fill([caller.role, caller.claims, 'public']));
        }
      });
      await Promise.all(runs);
      assert.deepEqual(await admin.query('select count(*) from entry'), [['0']]);
    }));
});

describe('a round trip', () => {
  const statements = Array.from({ length: 5 }, (_, index) => `select ${index}, 'round trip'`);

  for (const prepare of [true, false]) {
    test(`is all that a batch needs, the first time and later (prepare: ${prepare})`, () =>
      withDatabase({ poolSize: 1, prepare }, async (database) => {
        await database.query('select 1');
        for (let time = 0; time < 3; time++) {
          proxy.takeBatches();
          await database.run(batch(statements));
          assert.equal(proxy.takeBatches(), 1);
        }
        const long = [`select length($1::text)`, 'x'.repeat(1_000_000)] as const;
        assert.deepEqual(await database.run(batch([long])), [['1000000']]);
        assert.equal(proxy.takeBatches(), 1);
      }));
  }
});

describe('batches of one template', () => {
  // Batches share a connection only if they are quick: with this clock they take no time.
  before(() => void mock.method(performance, 'now', () => 0));
  after(() => mock.restoreAll());

  const template = {};
  const shared = (text: string, value: string, as: Session | null = session()): Batch => ({
    session: as,
    statements: [{ text, parameters: [value] }],
    template,
  });

  /**
   * Asks for batches at once, again and again, until they take exactly this many round trips: what was written at once may arrive in parts.
   */
  async function untilTogether(database: Database, roundTrips: number, ask: () => Promise<unknown>, warmUp: Batch): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      for (let time = 0; time < 500; time++) await database.run(warmUp);
      proxy.takeBatches();
      await ask();
      if (proxy.takeBatches() === roundTrips) return;
    }
    assert.fail(`They never took ${roundTrips} round trips`);
  }

  const values = Array.from({ length: 8 }, (_, index) => `${index}`);

  for (const pool of ['our', "a caller's"]) {
    test(`requested at once take one round trip on ${pool} pool, each as its caller`, async () => {
      const connectionString = `postgres://authenticator@127.0.0.1:${proxy.port}/postgres`;
      const own = pool === 'our' ? null : new Pool({ connectionString, max: 1 });
      const database = openPgDatabase((own as unknown as PgPool) ?? connectionString, { poolSize: 1 });
      const text = `${whoAmI}, $1::text`;
      const ask = async (): Promise<void> => {
        const results = values.map((value) => database.run(shared(text, value, session('anon', `{"sub":"${value}"}`))));
        assert.deepEqual(
          (await Promise.all(results)).map(textsOf),
          values.map((value) => [['anon', `{"sub":"${value}"}`, 'public', value]]),
        );
      };
      await untilTogether(database, 1, ask, shared(text, 'ä'));
      assert.deepEqual(await database.query("select current_user::text, current_setting('request.jwt.claims', true)"), [
        ['authenticator', ''],
      ]);
      await database.close();
      await own?.end();
    });
  }

  test('share a connection only with batches whose sessions begin in the same way', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      const text = `select current_user::text || ' ' || current_setting('transaction_isolation') || ' ' || current_setting('work_mem') || $1::text`;
      const defaults = (isolation: string | null, ...settings: [string, string][]) => ({
        statementTimeout: null,
        isolation,
        mayWrite: false,
        settings,
      });
      const sessions = [
        { ...session('anon'), defaults: defaults(null) },
        { ...session('authenticated'), defaults: defaults('serializable') },
        { ...session('service_role'), defaults: defaults('repeatable read', ['work_mem', '7MB']) },
        { ...session('anon'), defaults: defaults(null, ['work_mem', '9MB']) },
      ];
      const expected = [
        'anon read committed 4MB',
        'authenticated serializable 4MB',
        'service_role repeatable read 7MB',
        'anon read committed 9MB',
      ];
      const ask = async (): Promise<void> => {
        const rows = Array.from({ length: 16 }, (_, index) =>
          database.run({ ...shared(text, ` ${index}`, sessions[index % 4]!), client: `${index % 4}` }),
        );
        assert.deepEqual(
          (await Promise.all(rows)).map(textsOf),
          rows.map((_, index) => [[`${expected[index % 4]} ${index}`]]),
        );
      };
      // If a statement for the isolation level comes first, each batch is sent alone.
      await untilTogether(database, 1 + 4 + 4 + 1, ask, shared(text, '', sessions[0]!));
    }));

  test("fail independently, with PostgreSQL's error", () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      const text = 'select (12 / $1::int)::text';
      for (const failing of ['0', '3', '7']) {
        const ask = () =>
          Promise.all(
            values.map(async (value) => {
              const run = database.run(shared(text, value === failing ? '0' : '4'));
              if (value === failing) await assert.rejects(run, failure('22012', /division by zero/));
              else assert.deepEqual(await run, [['3']]);
            }),
          );
        await untilTogether(database, 2, ask, shared(text, '1'));
      }
    }));

  test('are run again if the connection is lost: only the batch that terminates it fails', async () => {
    const database = openPgDatabase(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, { poolSize: 1 });
    const text = "select case $1::text when '5' then pg_terminate_backend(pg_backend_pid())::text else $1 end";
    const run = async (value: string) => textsOf(await database.run(shared(text, value, null)));
    const ask = () =>
      Promise.all(
        values.map(async (value) => {
          if (value === '5') await assert.rejects(run(value), failure('57P01', /terminating connection/));
          else assert.deepEqual(await run(value), [[value]]);
        }),
      );
    // All in one write; a new connection for the batch that terminates it; another one for the two after that.
    await untilTogether(database, 1 + 2 + 3, ask, shared(text, '1', null));
    await database.close();
  });

  test('that nobody waits for any more are all cancelled', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      const text = 'select pg_sleep($1::float8)::text';
      const sleeping = async () => (await admin.query("select from pg_stat_activity where wait_event = 'PgSleep'")).length;
      let cancelRequests = 0;
      for (let attempt = 0; attempt < 100 && cancelRequests < 2; attempt++) {
        for (let time = 0; time < 500; time++) await database.run(shared(text, '0'));
        const deadlines = values.map(() => new Deadline(3_600_000));
        const runs = Promise.allSettled(deadlines.map((deadline) => database.run({ ...shared(text, '3600'), deadline })));
        await until(async () => (await sleeping()) === 1);
        proxy.takeBatches();
        for (const deadline of deadlines) deadline.stop('abandoned');
        for (const settled of await runs) assert.equal(settled.status === 'rejected' && settled.reason.reason, 'cancelled');
        assert.deepEqual(await database.query('select 7'), [['7']]);
        cancelRequests = proxy.takeBatches() - 1;
      }
      assert.ok(cancelRequests >= 2, 'several ran together, and each of them was cancelled');
    }));

  test('are not affected by a connection that broke unnoticed', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      const text = 'select $1::text';
      const ask = async (): Promise<void> => {
        proxy.cut('on next write');
        const settled = await Promise.allSettled(values.map((value) => database.run(shared(text, value))));
        // A batch that was sent alone may have taken effect.
        assert.ok(settled.filter(({ status }) => status === 'rejected').length <= 1);
      };
      // The interrupted batches; a new connection; each of the eight alone.
      await untilTogether(database, 1 + 8, ask, shared(text, '1'));
    }));
});

describe('JIT and the time limit', () => {
  const jit = "select current_setting('jit')";
  const both = "select current_setting('jit'), current_setting('statement_timeout')";
  const within = (millis: number, statements: readonly string[] = [both], as?: Session): Batch => {
    const deadline = new Deadline(millis);
    deadline.end();
    return { ...batch(statements, as), deadline };
  };

  /** The milliseconds of a time limit as PostgreSQL writes it. */
  const millisOf = (found: unknown): number => {
    const [, amount, unit = ''] = /^(\d+)(\w+)$/.exec(String(found)) ?? [];
    return Number(amount) * ({ ms: 1, s: 1000, min: 60_000, h: 3_600_000 }[unit] ?? Number.NaN);
  };

  /** Checks what `both` returns. A batch may also have what is left of its time, a little less than all of it. */
  const assertSet = (rows: BatchResult, millis: number): void => {
    const [[jitSetting, found] = []] = textsOf(rows);
    assert.equal(jitSetting, 'off');
    if (millis === Infinity) assert.equal(found, '0');
    else assert.ok(millisOf(found) <= millis && millisOf(found) > millis * 0.6, `${found} of ${millis} ms`);
  };

  test('are set in each batch, and stay on no connection', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      for (let time = 0; time < 3; time++) {
        assertSet(await database.run(within(30_000)), 30_000);
        assert.deepEqual(await database.query(both), [['on', '0']]);
        await assert.rejects(database.run(within(30_000, ['select 1/0'])), failure('22012'));
        assert.deepEqual(await database.query(both), [['on', '0']]);
      }
    }));

  test('internal queries run without JIT and with memory for their sets, and leave neither behind', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      const settings = "select current_setting('jit'), current_setting('work_mem')";
      const usual = await database.query(settings);
      assert.deepEqual(usual, [['on', '4MB']]);
      for (const isRepeated of [false, true]) {
        assert.deepEqual(await database.query(settings, [], { isRepeated }), [['off', '16MB']]);
        assert.deepEqual(await database.query(`${settings} from generate_series(1, $1::int)`, ['2']), Array(2).fill(['off', '16MB']));
        assert.deepEqual(await database.query(settings), usual);
        await assert.rejects(database.query('select 1/0', [], { isRepeated }), failure('22012'));
        assert.deepEqual(await database.query(settings), usual);
      }
    }));

  test('are those of each batch, whatever the one before it had', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      const role = (millis: number): Session => {
        const defaults = { statementTimeout: millis, isolation: null, mayWrite: false, settings: [] };
        return { ...session(), defaults };
      };
      const cases: readonly (readonly [Batch, number])[] = [
        [within(30_000), 30_000],
        [within(30_000, [both], role(3000)), 3000],
        [within(30_000, [both], role(60_000)), 30_000],
        [within(Infinity), Infinity],
        [within(Infinity, [both], role(3000)), 3000],
        [within(7_200_000), 7_200_000],
        [batch([both]), Infinity],
      ];
      for (let first = 0; first < cases.length; first++) {
        for (const [next, expected] of [...cases.slice(first), ...cases.slice(0, first)]) {
          const deadline = new Deadline(next.deadline?.millis ?? Infinity);
          deadline.end();
          assertSet(await database.run({ ...next, deadline }), expected);
        }
      }
    }));

  test("leave no trace on the caller's connections, or behind a pooler", async (t) => {
    const pool = new Pool({ connectionString: server.url, max: 1 });
    const database = openPgDatabase(pool as unknown as PgPool);
    t.after(async () => {
      await database.close();
      await pool.end();
    });
    const runLimited = async (on: Database): Promise<void> => {
      const [[isOff, found] = []] = textsOf(await on.run(within(3_600_000)));
      assert.equal(isOff, 'off');
      assert.notEqual(found, '0');
    };
    for (let time = 0; time < 2; time++) await runLimited(database);
    assert.deepEqual((await pool.query({ text: both, rowMode: 'array' })).rows, [['on', '0']]);

    const pooler = await startKeyProxy(server.port);
    const pooled = openPgDatabase(`postgres://authenticator@127.0.0.1:${pooler.port}/postgres`, { poolSize: 1 });
    t.after(async () => {
      await pooled.close();
      await pooler.stop();
    });
    for (let time = 0; time < 2; time++) await runLimited(pooled);
    assert.deepEqual(await pooled.query(both), [['on', '0']]);
    await withDatabase({ poolSize: 1, prepare: false }, async (unprepared) => {
      for (let time = 0; time < 2; time++) await runLimited(unprepared);
      assert.deepEqual(await unprepared.query(both), [['on', '0']], 'who does not prepare may be behind a pooler');
    });
  });

  test('are its own for each batch of a group of which one has less time', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      const text = 'select current_setting($1::text)';
      const template = { text };
      const run = (millis: number) =>
        database.run({ ...within(millis, []), statements: [{ text, parameters: ['statement_timeout'] }], template });
      for (let time = 0; time < 200; time++) await run(60_000);
      for (let round = 0; round < 20; round++) {
        const limits = [60_000, 20_000, 60_000, 7_200_000, 60_000].map((millis, index, all) => all[(index + round) % all.length] ?? millis);
        const found = await Promise.all(limits.map(run));
        for (const [index, rows] of found.entries()) {
          const millis = millisOf(rows[0]?.[0]);
          const expected = limits[index]!;
          // A batch may also have what is left of its time.
          assert.ok(millis <= expected * 1.05 && millis > expected * 0.5, `${millis} of ${expected} ms`);
        }
      }
    }));

  test('end a statement although a group of batches relies on them', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      assert.deepEqual(await database.run(batch([jit])), [['off']]);
      const text = 'select pg_sleep($1::float8)::text';
      const template = { text };
      const run = (seconds: string) => database.run({ ...within(200, []), statements: [{ text, parameters: [seconds] }], template });
      for (let time = 0; time < 200; time++) await run('0');
      const settled = await Promise.allSettled(['0', '0', '20', '0'].map(run));
      const [sleeper] = settled.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
      assert.equal(sleeper?.reason.sqlstate, '57014');
    }));
});

describe('prepared statements', () => {
  test('are counted, including those of closed connections', async () => {
    const database = openPgDatabase(server.url, { poolSize: 1 });
    const use = () => database.readCaches().map(({ name, hits, misses, entries }) => [name, hits, misses, entries]);
    assert.deepEqual(use(), [['statement', 0, 0, 0]]);
    const asNobody: Batch = { session: null, statements: [{ text: 'select pg_backend_pid()', parameters: [] }] };
    const [[id] = []] = textsOf(await database.run(asNobody));
    await database.run(asNobody);
    assert.deepEqual(use(), [['statement', 1, 1, 1]]);
    await assert.rejects(database.run({ ...asNobody, statements: [{ text: 'select pg_terminate_backend($1::int)', parameters: [id!] }] }));
    assert.deepEqual(use(), [['statement', 1, 2, 0]]);
    await database.close();
    const unprepared = openPgDatabase(server.url, { prepare: false });
    assert.deepEqual(unprepared.readCaches(), []);
    await unprepared.close();
  });

  const names = "select name, statement from pg_prepared_statements where name like 'rowgraph\\_%'";

  test('are kept by name, up to the size of the cache', () =>
    withDatabase({ poolSize: 1, statementCacheSize: 5 }, async (database) => {
      for (let round = 0; round < 3; round++) {
        for (let index = 0; index < 10; index++) assert.deepEqual(await database.run(batch([`select ${index}`])), [[`${index}`]]);
      }
      // What the last batch evicted is closed by the next.
      assert.ok((await database.query(names)).length <= 6);
      const before = (await database.query(names)).length;
      await database.run(batch(['select 9']));
      await database.run(batch(['select 9']));
      assert.ok((await database.query(names)).length <= before);
    }));

  test('work with the smallest cache', () =>
    withDatabase({ poolSize: 1, statementCacheSize: 1 }, async (database) => {
      for (let index = 0; index < 20; index++) {
        const texts = [`select ${index % 3}`, 'select 1', `select ${index % 3}`, `select ${index % 2}`];
        assert.deepEqual(
          await database.run(batch(texts)),
          texts.map((text) => [text.slice(7)]),
        );
      }
    }));

  test('are not used if switched off', () =>
    withDatabase({ poolSize: 1, prepare: false }, async (database) => {
      await database.run(batch([whoAmI]));
      assert.deepEqual(await database.query('select name from pg_prepared_statements'), []);
    }));

  test('are used for internal queries only if these are repeated, on a connection of their own', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      const isRepeated = true;
      const backend = (options?: QueryOptions) => database.query('select pg_backend_pid()', [], options).then(([row]) => row?.[0]);
      const usual = await backend();
      await until(async () => (await backend({ isRepeated })) !== usual);
      const listed = async () =>
        (await database.query(`select statement from pg_prepared_statements where name like 'rowgraph\\_%'`, [], { isRepeated })).flat();
      assert.deepEqual(await database.query('select $1::int', ['1']), [['1']]);
      for (const value of ['1', '2']) assert.deepEqual(await database.query('select $1::int', [value], { isRepeated: true }), [[value]]);
      // The other one is for their settings.
      assert.deepEqual(
        (await listed()).filter((text) => text?.startsWith('select $')),
        ['select $1::int'],
      );
    }));

  test('are prepared again after somebody discards them', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      await database.run(batch([whoAmI, 'select 1']));
      await database.query('discard all');
      assert.deepEqual(textsOf(await database.run(batch(['select 1']))), [['1']]);
      await database.query('deallocate all');
      assert.deepEqual(await database.run(batch(['select 1', 'select 2'])), [['1'], ['2']]);
    }));

  test('are prepared again after a column changes its type', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      assert.deepEqual(await database.run(batch(['select value from typed'])), [['7']]);
      await admin.query('alter table typed alter value type text');
      assert.deepEqual(await database.run(batch(['select value from typed'])), [['7']]);
    }));

  test('are not recorded as prepared after an error', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      for (const broken of ['select 1/0', 'select nothing', 'selekt']) {
        for (let time = 0; time < 2; time++) await assert.rejects(database.run(batch(['select 1', broken, 'select 2', 'select 3'])));
        assert.deepEqual(await database.run(batch(['select 3', 'select 2', 'select 1'])), [['3'], ['2'], ['1']]);
      }
      await assert.rejects(database.run(batch(['select late from late'])), failure('42P01'));
      await admin.query("create table late as select 'now' as late; grant select on late to anon");
      assert.deepEqual(await database.run(batch(['select late from late'])), [['now']]);
    }));
});

/** Waits until this many backends sleep. */
const untilSleeping = (count = 1): Promise<void> =>
  until(async () => (await admin.query("select 1 from pg_stat_activity where wait_event = 'PgSleep'")).length === count);
const cancelSleeping = () => admin.query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'");

describe('a connection', () => {
  test('that is lost during a batch fails only that batch', () =>
    withDatabase({ poolSize: 2 }, async (database) => {
      await database.run(batch([whoAmI]));
      const sleeping = assert.rejects(database.run(batch(['insert into entry values (10)', 'select pg_sleep(600)'])), failure(null));
      await untilSleeping();
      proxy.cut('now');
      await sleeping;
      await cancelSleeping();
      assert.deepEqual(textsOf(await database.run(batch(['select 1']))), [['1']]);
      proxy.cut('on next write');
      await assert.rejects(database.query('select 1'), failure(null));
      await database.run(batch(['select 1']));
      proxy.cut('on next write');
      await assert.rejects(database.run(batch(['insert into entry values (11)'])), failure(null));
      // The one that is opened to count is cut, too, and replaced.
      proxy.cut('on next write');
      assert.deepEqual(await database.run(batch(['select count(*) from entry'])), [['0']]);
    }));

  test('that PostgreSQL terminates reports the reason', () =>
    withDatabase({ poolSize: 1 }, async (database) => {
      const terminating = database.run(batch(['insert into entry values (12)', 'select pg_sleep(600)']));
      const rejected = assert.rejects(terminating, failure('57P01', /terminating connection/));
      await untilSleeping();
      await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'");
      await rejected;
      assert.deepEqual(await database.run(batch(['select count(*) from entry'])), [['0']]);
    }));

  test('that dies while it is idle is replaced', async () => {
    const noted: unknown[] = [];
    const onConnectionError = (error: unknown): void => void noted.push(error);
    await withDatabase({ poolSize: 3, onConnectionError }, async (database) => {
      // Each has a connection of its own, since none ends before all have begun.
      const meeting = Array.from({ length: 3 }, () => database.run(batch(['select pg_sleep(600)'])));
      const cancelled = Promise.all(meeting.map((run) => assert.rejects(run, failure('57014'))));
      await untilSleeping(3);
      await cancelSleeping();
      await cancelled;
      proxy.cut('now');
      await until(() => noted.length >= 3);
      const results = await Promise.all(Array.from({ length: 9 }, () => database.run(batch(['select 1']))));
      assert.deepEqual(results, Array(9).fill([['1']]));
    });
  });

  test('that ends shortly after another is not met by what ran on that one', () =>
    withDatabase({ poolSize: 3 }, async (database) => {
      const meeting = Array.from({ length: 3 }, () => database.run(batch(['select pg_sleep(600)'])));
      const cancelled = Promise.all(meeting.map((run) => assert.rejects(run, failure('57014'))));
      await untilSleeping(3);
      await cancelSleeping();
      await cancelled;
      proxy.cutOneByOne();
      assert.deepEqual(await database.query('select 1', []), [['1']]);
    }));

  test('whose query waits to be sent again ends that wait when the database is closed', async () => {
    const database = openPgDatabase(`postgres://authenticator@127.0.0.1:${proxy.port}/postgres`, { poolSize: 1 });
    await database.query('select 1', []);
    proxy.cut('on next write');
    const asked = database.query('select 1', []);
    const refused = assert.rejects(asked, (error) => error instanceof DatabaseError && error.reason === 'closed');
    await until(() => database.readStatistics().pool?.busy === 0);
    await database.close();
    await refused;
  });

  test('that arrives too late for its work, and dies unused, is replaced', async () => {
    const noted: unknown[] = [];
    const onConnectionError = (error: unknown): void => void noted.push(error);
    await withDatabase({ poolSize: 2, onConnectionError }, async (database) => {
      await database.query('select 1');
      // The first connection serves both before the second is open.
      await Promise.all([database.query('select 1'), database.query('select 2')]);
      const open = "select 1 from pg_stat_activity where usename = 'authenticator' and state = 'idle'";
      await until(async () => (await admin.query(open)).length === 2);
      proxy.cut('now');
      await until(() => noted.length === 2);
      assert.deepEqual(await Promise.all([database.query('select 1'), database.query('select 2')]), [[['1']], [['2']]]);
    });
  });

  test('is waited for no longer than the limit', () =>
    withDatabase({ poolSize: 1, queueTimeoutMillis: 150 }, async (database) => {
      // On a busy machine, connecting and cancelling may take longer than work may wait.
      const isServed = () =>
        database.run(batch([whoAmI])).then(
          () => true,
          () => false,
        );
      await until(isServed);
      const sleeping = assert.rejects(database.run(batch(['select pg_sleep(600)'])), failure('57014'));
      await Promise.all(Array.from({ length: 5 }, () => assert.rejects(database.run(batch([whoAmI])), failure('53300', /overloaded/))));
      await cancelSleeping();
      await sleeping;
      await until(isServed);
    }));

  test('that cannot be opened is reported', async () => {
    const database = openPgDatabase('postgres://authenticator@127.0.0.1:1/postgres');
    await assert.rejects(database.run(batch([whoAmI])), failure(null, /ECONNREFUSED/));
    await assert.rejects(database.query('select 1'), failure(null));
    await assert.rejects(
      database.listen('some_channel', () => {}),
      failure(null),
    );
    await database.close();
    const nowhere = openPgDatabase(`postgres://authenticator@127.0.0.1:${server.port}/nowhere`);
    await assert.rejects(nowhere.run(batch([whoAmI])), failure('3D000'));
    await nowhere.close();
  });
});

test("a caller's pool is used and stays open", async () => {
  const pool = new Pool({ connectionString: `postgres://authenticator@127.0.0.1:${server.port}/postgres`, max: 2 });
  const listeners = pool.listenerCount('error');
  const database = openPgDatabase(pool as unknown as PgPool);
  assert.deepEqual(textsOf(await database.run(batch(['select 1']))), [['1']]);
  assert.deepEqual((await pool.query('select current_user::text as me')).rows, [{ me: 'authenticator' }]);
  await database.close();
  assert.equal(pool.listenerCount('error'), listeners);
  assert.deepEqual((await pool.query('select 1 as one')).rows, [{ one: 1 }]);
  await pool.end();
});

test('query takes a script without parameters, or a single statement with parameters', () =>
  withDatabase({}, async (database) => {
    assert.deepEqual(await database.query('select 1, null; select 2, true'), [
      ['1', null],
      ['2', 't'],
    ]);
    assert.deepEqual(await database.query('select $1::int + 1, $2::text from generate_series(1, 2)', ['4', null]), [
      ['5', null],
      ['5', null],
    ]);
    await assert.rejects(database.query('copy typed from stdin'), failure('42501'));
    await assert.rejects(admin.query('copy typed from stdin'), failure('57014', /not supported here/));
    await assert.rejects(database.query('select $1::int', ['x']), failure('22P02'));
  }));

test('listen reports notifications, and a connection that was restored', () =>
  withDatabase({}, async (database) => {
    const heard: (string | null)[] = [];
    let wake = (): void => {};
    const hears = async (count: number): Promise<void> => {
      while (heard.length < count) await new Promise<void>((resolve) => (wake = resolve));
    };
    const stop = await database.listen('some_channel', (payload) => {
      heard.push(payload);
      wake();
    });
    const stopOther = await database.listen('other_channel', (payload) => {
      heard.push(`other ${payload}`);
      wake();
    });
    await admin.query("notify some_channel, 'one'");
    await hears(1);
    proxy.cut('now');
    await hears(3);
    await admin.query("notify some_channel, 'two'");
    await hears(4);
    assert.deepEqual(heard, ['one', null, 'other null', 'two']);
    await stop();
    await admin.query("notify some_channel, 'three'; notify other_channel, 'four'");
    await hears(5);
    await stopOther();
    await admin.query("notify other_channel, 'five'");
    await database.query('select 1', [], { isRepeated: true });
    assert.deepEqual(heard.slice(4), ['other four']);
    await assert.rejects(
      database.listen('x; drop table entry', () => {}),
      TypeError,
    );
  }));
