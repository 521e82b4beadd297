import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { startPglite } from '../../test/support/pglite.ts';
import { until } from '../../test/support/until.ts';
import { Deadline } from '../budget/deadline.ts';
import type { Database } from '../database/database.ts';
import { openDatabase } from '../database/open-database.ts';
import { ApiError } from '../errors/api-error.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { toApiError } from '../errors/from-postgres.ts';
import type { Event } from '../events.ts';
import { installExtension } from '../extension/install-extension.ts';
import { Attempts } from './attempts.ts';
import { SchemaWatch } from './schema-watch.ts';

let pglite: PGlite;
let database: Database;
let watch: SchemaWatch<number>;
before(async () => {
  pglite = await startPglite();
  database = openDatabase(pglite, { observe: () => {} });
  watch = await SchemaWatch.start(database, ['public'], { load: async () => 1 }, () => {});
});
after(async () => {
  await watch.stop();
  await database.close();
  await pglite.close();
});

function rethrow(error: unknown): never {
  throw error;
}

function codeOf(error: unknown): string {
  return (error instanceof DatabaseError ? toApiError(error) : (error as ApiError)).code;
}

/** Runs `use` on the current snapshot, and again for as long as there may be another attempt. */
async function withCurrent<Value>(
  watched: SchemaWatch<number>,
  deadline: Deadline,
  use: (snapshot: number) => Promise<Value>,
  recover: (error: unknown) => Value,
): Promise<Value> {
  const attempts = new Attempts(watched, deadline);
  for (;;) {
    try {
      return await use(attempts.snapshot);
    } catch (error) {
      const failure = await attempts.failed(error);
      if (failure !== null) return recover(failure);
    }
  }
}

/** How often a request runs if it fails in this way the first times. */
async function runsOf(
  fields: ConstructorParameters<typeof DatabaseError>[1],
  failures: number,
): Promise<{ runs: number; outcome: unknown }> {
  const deadline = new Deadline(60_000);
  let runs = 0;
  const outcome = await withCurrent<unknown>(
    watch,
    deadline,
    async () => {
      runs += 1;
      if (runs <= failures) throw toApiError(new DatabaseError('cache lookup failed for function 16893', fields));
      return 'done';
    },
    (error) => (error as ApiError).code,
  );
  deadline.end();
  return { runs, outcome };
}

// Before the tests that install the triggers, which would announce the change.
test('a request is not rejected by a schema that changed again while it was read, and may mix two states', async () => {
  let loads = 0;
  const load = async (): Promise<number> => {
    loads += 1;
    if (loads === 2) await database.query('create table later (id int)', []);
    return loads;
  };
  const changing = await SchemaWatch.start(database, ['public'], { load }, () => {});
  const deadline = new Deadline(60_000);
  await database.query('create table sooner (id int)', []);
  const use = async (snapshot: number): Promise<number> => {
    if (snapshot < 3) throw new ApiError('GRAPHQL_VALIDATION_FAILED', 'Cannot query field "later"');
    return snapshot;
  };
  const used = await withCurrent(changing, deadline, use, rethrow);
  assert.equal(used, 3);
  deadline.end();
  await changing.stop();
});

test('a request is not rejected by a snapshot that came into doubt after the schema was compared', async () => {
  let loads = 0;
  let doubt = (): void => {};
  const load = async (_stamp: unknown, _previous: unknown, onDoubt: () => void): Promise<number> => {
    doubt = onDoubt;
    loads += 1;
    return loads;
  };
  const watched = await SchemaWatch.start<number>(database, ['public'], { load }, () => {});
  const deadline = new Deadline(60_000);
  const refusal = new ApiError('GRAPHQL_VALIDATION_FAILED', 'Cannot query field "replaced"');
  const use = async (snapshot: number): Promise<number> => {
    if (snapshot > 1) return snapshot;
    // Finds no change.
    await assert.rejects(
      withCurrent(watched, deadline, () => Promise.reject(refusal), rethrow),
      refusal,
    );
    await database.query('create table replaced (id int)', []);
    doubt();
    throw refusal;
  };
  const used = await withCurrent(watched, deadline, use, rethrow);
  assert.equal(used, 2);
  deadline.end();
  await watched.stop();
});

test('a statement that misses an object is compiled anew for each newer schema, until its deadline', async (t) => {
  let skipped = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + skipped);
  let loads = 0;
  const watched = await SchemaWatch.start(database, ['public'], { load: async () => ++loads }, () => {});
  const outcomeOf = async (context?: string) => {
    const deadline = new Deadline(Infinity);
    let runs = 0;
    const use = async (): Promise<string> => {
      runs += 1;
      skipped += 6000;
      await database.query(`create table missed_${context ? 'twice' : 'once'}_${runs} (id int primary key)`, []);
      if (runs === 4) deadline.stop('expired');
      throw toApiError(new DatabaseError('column "x" does not exist', { sqlstate: '42703', ...(context && { context }) }));
    };
    return { outcome: await withCurrent(watched, deadline, use, codeOf), runs };
  };
  assert.deepEqual(await outcomeOf(), { outcome: 'TIMEOUT', runs: 4 });
  // A function that misses it does so whatever the schema.
  assert.deepEqual(await outcomeOf('PL/pgSQL function f() line 1'), { outcome: 'DATABASE_ERROR', runs: 2 });
  // Each schema was read while it changed, and none may refuse the request.
  const deadline = new Deadline(Infinity);
  const refused = async (): Promise<never> => {
    skipped += 6000;
    await database.query(`create table refused_${skipped} (id int primary key)`, []);
    throw new ApiError('GRAPHQL_VALIDATION_FAILED', 'Cannot query field "there"');
  };
  assert.equal(await withCurrent(watched, deadline, refused, codeOf), 'CONFLICT');
  await watched.stop();
});

test('the catalogs are compared only if a transaction has changed something since the last comparison', async () => {
  let comparisons = 0;
  const counting = new Proxy(database, {
    get: (target, name) => {
      if (name !== 'query') return Reflect.get(target, name).bind(target);
      return (...call: Parameters<Database['query']>) => {
        if (call[0].includes('pg_attribute')) comparisons += 1;
        return database.query(...call);
      };
    },
  });
  let loads = 0;
  const load = async (): Promise<number> => {
    loads += 1;
    return loads;
  };
  const watched = await SchemaWatch.start(counting, ['public'], { load }, () => {});
  const refusal = new ApiError('GRAPHQL_VALIDATION_FAILED', 'Cannot query field "unknown"');
  /** Whether a change of the database leads to a comparison, by a request that is rejected at the latest. */
  const compares = async (change: string): Promise<boolean> => {
    const before = comparisons;
    await database.query(change);
    const deadline = new Deadline(60_000);
    const snapshot = watched.current();
    const use = (current: number): Promise<number> => (current === snapshot ? Promise.reject(refusal) : Promise.resolve(current));
    await withCurrent(watched, deadline, use, () => 0);
    deadline.end();
    return comparisons > before;
  };
  assert.equal(await compares('select 1'), true, 'there was none before');
  assert.equal(await compares('select 1'), false);
  assert.equal(await compares("begin; select 'no change'; commit"), false);
  assert.equal(await compares('create table counted (id int); drop table counted'), true);
  assert.equal(await compares('select 1'), false);
  assert.equal(loads, 1);
  assert.equal(await compares('create table counted (id int)'), true);
  assert.equal(loads, 2);
  await watched.stop();
});

describe('LISTEN', () => {
  /** Watches a database that has the triggers, but where the first attempts to listen fail. */
  async function start(sqlstate: string, failures: number) {
    await installExtension(database);
    const calls = { attempts: 0, reports: [] as unknown[], loads: 0 };
    const listen: Database['listen'] = (...call) => {
      calls.attempts += 1;
      if (calls.attempts <= failures) return Promise.reject(new DatabaseError('LISTEN failed', { sqlstate }));
      return database.listen(...call);
    };
    const refusing = new Proxy(database, {
      get: (target, name) => (name === 'listen' ? listen : Reflect.get(target, name).bind(target)),
    });
    const load = async (): Promise<number> => {
      calls.loads += 1;
      return calls.loads;
    };
    const observe = (event: Event): void => void calls.reports.push(event.kind);
    return { calls, watched: await SchemaWatch.start(refusing, ['public'], { load }, observe) };
  }

  it('is tried again if it fails; meanwhile, the schema is compared every second, and loaded', async () => {
    const { calls, watched } = await start('53300', 3);
    assert.deepEqual(calls.reports, ['listen-failed']);
    await database.query('create table unheard_of (id int)', []);
    await watched.reload();
    assert.equal(watched.current(), 2);
    await until(() => calls.attempts === 4);
    assert.deepEqual(calls.reports, ['listen-failed'], 'the first failure is reported');
    await watched.stop();
  });

  it('is not tried again on a standby before the next load', async () => {
    const { calls, watched } = await start('25006', Infinity);
    await watched.reload();
    await until(() => calls.attempts === 2);
    assert.deepEqual(calls.reports, []);
    await watched.stop();
    assert.equal(calls.attempts, 2);
  });
});

describe('a request that PostgreSQL rejects although the schema is current', () => {
  it('runs again if it misses an object of the schema, because PostgreSQL announces a change only after its commit', async () => {
    for (const sqlstate of ['XX000', '42883', '42P01', '42703'])
      assert.deepEqual(await runsOf({ sqlstate }, 2), { runs: 3, outcome: 'done' }, sqlstate);
  });

  it('fails if that does not help', async () => {
    assert.deepEqual(await runsOf({ sqlstate: '42883' }, Infinity), { runs: 4, outcome: 'DATABASE_ERROR' });
  });

  it('fails at once with an error that repeats did not resolve, until the schema changes', async () => {
    assert.equal((await runsOf({ sqlstate: '42883' }, Infinity)).runs, 1);
    await watch.reload();
    assert.deepEqual(await runsOf({ sqlstate: '42883' }, 1), { runs: 2, outcome: 'done' });
  });

  it('does not run again if a function of the database misses an object, or for other errors', async () => {
    const context = 'PL/pgSQL function public.greet() line 1 at RETURN';
    assert.deepEqual(await runsOf({ sqlstate: '42P01', context }, 1), { runs: 1, outcome: 'DATABASE_ERROR' });
    assert.deepEqual(await runsOf({ sqlstate: '42501' }, 1), { runs: 1, outcome: 'PERMISSION_DENIED' });
    assert.deepEqual(await runsOf({ sqlstate: '22003' }, 1), { runs: 1, outcome: 'INVALID_VALUE' });
  });
});
