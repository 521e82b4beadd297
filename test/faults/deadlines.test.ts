/**
 * Time limits and clients that go away: a request ends in time whatever PostgreSQL or the network does, PostgreSQL is stopped, nobody else's statement
 * is, and what a client is told of a mutation is true.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Deadline } from '../../src/budget/deadline.ts';
import type { Caller, ExecutionResult } from '../../src/engine/request.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

const setup = `
  create table entry (id serial primary key, note text);
  grant all on all sequences in schema public to anon;
  insert into entry (note) select 'note ' || n from generate_series(1, 20) n;
  create function nap(seconds float8) returns text stable language plpgsql as $$ begin perform pg_sleep(seconds); return 'rested'; end $$;
  create function doze(seconds float8) returns text stable language sql as $$ select pg_sleep(seconds)::text $$;
  create function slow(note text, seconds float8) returns text volatile language plpgsql as $$ begin
    insert into entry (note) values (note); perform pg_sleep(seconds); return note; end $$;
  create function held() returns int stable language sql as 'select 7 from pg_advisory_xact_lock_shared(1)';
  create function held_write(note text) returns text volatile language plpgsql as $$ begin
    insert into entry (note) values (note); perform pg_advisory_xact_lock_shared(1); return note; end $$;
  create function big(size int) returns text stable language sql as $$ select repeat('x', size) $$;
  create function big_write(note text, size int) returns text volatile language sql as $$
    insert into entry (note) values (note); select repeat('x', size) $$;
  create function setting(name text) returns text stable language sql as $$ select current_setting(name, true) $$;
`;
const caller: Caller = { role: 'anon' };
const read = '{ entryCollection(first: 1) { edges { node { id } } } }';
let databases: TestDatabases;
let database: TestDatabase;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
});
after(() => databases.close());

const codeOf = ({ errors }: ExecutionResult): unknown => errors?.[0]?.extensions.code;
const countNotes = async (note: string): Promise<unknown> =>
  (await database.run(`select count(*)::int as count from entry where note = '${note}'`))[0]?.count;

async function withGraph(
  options: Omit<Parameters<typeof createRowgraph>[0], 'database'>,
  use: (graph: Rowgraph) => Promise<void>,
): Promise<void> {
  const graph = await createRowgraph({ database: database.url, ...options });
  try {
    await use(graph);
  } finally {
    await graph.close();
  }
}

test('a query ends at the time limit of the graph, or at the shorter one of its client', async () => {
  await withGraph({ timeout: 100 }, async (graph) => {
    assert.equal(codeOf(await graph.execute({ query: '{ nap(seconds: 20) }' }, caller)), 'TIMEOUT');
  });
  await withGraph({}, async (graph) => {
    assert.equal(codeOf(await graph.execute({ query: '{ nap(seconds: 20) }' }, caller, { timeout: 50 })), 'TIMEOUT');
    await database.untilRunning('nap', 0);
    assert.equal(codeOf(await graph.execute({ query: read }, caller)), undefined);
  });
});

test('a graph may have no time limit, or one that is longer than timers can wait', async () => {
  for (const timeout of [Infinity, 3e9]) {
    await withGraph({ timeout, queue: { timeout } }, async (graph) => {
      const { data } = await graph.execute({ query: '{ setting(name: "statement_timeout") }' }, caller);
      assert.deepEqual(data, { setting: '0' });
      await graph.explain({ query: read }, caller, { mode: 'analyze' });
      const controller = new AbortController();
      const running = graph.execute({ query: '{ nap(seconds: 20) }' }, caller, { signal: controller.signal });
      await database.untilRunning('nap', 1);
      controller.abort();
      assert.equal(codeOf(await running), 'CANCELLED');
    });
  }
});

test('a mutation that ends at its time limit has changed nothing, and says so by its code', () =>
  withGraph({ timeout: 300 }, async (graph) => {
    const query = 'mutation { slow(note: "late", seconds: 20) }';
    assert.equal(codeOf(await graph.execute({ query }, caller)), 'TIMEOUT');
    assert.equal(await countNotes('late'), 0);
  }));

test('a statement that has no time limit of its own to PostgreSQL is cancelled by rowgraph', () =>
  withGraph({ timeout: 300 }, async (graph) => {
    // A function that takes its own limit away, so that only a cancel request ends it.
    await database.run(`create or replace function stubborn(note text) returns text volatile language plpgsql set statement_timeout = 0 as $$
      begin insert into entry (note) values (note); perform pg_sleep(20); return note; end $$`);
    await graph.reload();
    assert.equal(codeOf(await graph.execute({ query: 'mutation { stubborn(note: "stubborn") }' }, caller)), 'TIMEOUT');
    assert.equal(await countNotes('stubborn'), 0);
    await database.untilRunning('stubborn', 0);
  }));

test('a client that goes away takes its request along: from the queue, and from PostgreSQL', () =>
  withGraph({ poolSize: 1 }, async (graph) => {
    const running = new AbortController();
    const queued = new AbortController();
    const first = graph.execute({ query: 'mutation { slow(note: "gone", seconds: 20) }' }, caller, { signal: running.signal });
    await database.untilRunning('slow', 1);
    const second = graph.execute({ query: 'mutation { slow(note: "gone", seconds: 0) }' }, caller, { signal: queued.signal });
    const third = graph.execute({ query: read }, caller);
    queued.abort();
    assert.equal(codeOf(await second), 'CANCELLED');
    running.abort();
    assert.equal(codeOf(await first), 'CANCELLED');
    assert.equal(codeOf(await third), undefined, 'the next in the queue is served by the same connection');
    assert.equal(await countNotes('gone'), 0);
    assert.equal(codeOf(await graph.execute({ query: read }, caller, { signal: AbortSignal.abort() })), 'CANCELLED');
  }));

test('a cancel request never reaches the statement of somebody else', () =>
  withGraph({ poolSize: 3 }, async (graph) => {
    const counts = { answered: 0, cancelled: 0, other: [] as unknown[] };
    const good = async (worker: number): Promise<void> => {
      for (let round = 0; round < 150; round++) {
        const { data, errors } = await graph.execute({ query: '{ nap(seconds: 0.001) }' }, caller, { client: `good ${worker}` });
        if (data?.nap === 'rested') counts.answered += 1;
        else counts.other.push(errors);
      }
    };
    // Its moment varies from before the statement is sent to after it has ended.
    const hasty = async (worker: number): Promise<void> => {
      for (let round = 0; round < 150; round++) {
        const controller = new AbortController();
        const answer = graph.execute({ query: '{ nap(seconds: 0.002) }' }, caller, {
          signal: controller.signal,
          client: `hasty ${worker}`,
        });
        for (let turn = 0; turn < (round + worker) % 12; turn++) await new Promise(setImmediate);
        controller.abort();
        const code = codeOf(await answer);
        if (code === 'CANCELLED') counts.cancelled += 1;
        else if (code !== undefined) counts.other.push(code);
      }
    };
    await Promise.all([0, 1, 2].flatMap((worker) => [good(worker), hasty(worker)]));
    assert.deepEqual(counts.other, []);
    assert.equal(counts.answered, 450);
    // Those that go away at once are.
    assert.ok(counts.cancelled >= 36, `${counts.cancelled} were cancelled`);
  }));

/** Holds a lock on `entry` while something goes on. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const blocker = await database.connect();
  await blocker.query('begin; lock table entry in access exclusive mode');
  try {
    await work();
  } finally {
    await blocker.query('rollback');
  }
}

test('a lock that lasts: those who wait are told in time, and traffic goes on behind it', () =>
  withGraph({ poolSize: 1, queue: { timeout: 1000 } }, async (graph) => {
    const ask = (client: string, timeout?: number) => graph.execute({ query: read }, caller, { client, timeout });
    // On a busy machine, connecting and cancelling may take longer than work may wait.
    const isServed = async (client: string) => codeOf(await ask(client)) === undefined;
    await until(() => isServed('first'));
    await whileLocked(async () => {
      const controller = new AbortController();
      const running = graph.execute({ query: read }, caller, { signal: controller.signal });
      await database.untilLocked('entry', 1);
      const hasty = Array.from({ length: 200 }, (_, index) => ask(`client ${index % 7}`, 20));
      const patient = Array.from({ length: 200 }, (_, index) => ask(`client ${index % 7}`));
      assert.deepEqual(new Set((await Promise.all(hasty)).map(codeOf)), new Set(['TIMEOUT']));
      assert.deepEqual(new Set((await Promise.all(patient)).map(codeOf)), new Set(['OVERLOADED']));
      controller.abort();
      assert.equal(codeOf(await running), 'CANCELLED');
      assert.equal(codeOf(await ask('late', 100)), 'TIMEOUT');
    });
    await until(() => isServed('next'));
  }));

test('a lock that many users wait for: requests on other tables are served meanwhile, and theirs behind it', () =>
  withGraph({ poolSize: 10, queue: { timeout: 60_000 } }, async (graph) => {
    await database.run(`create table other (id serial primary key, note text); insert into other (note) values ('one');
      create table tag (id serial primary key, entry_id int references entry);
      grant all on other, other_id_seq, tag, tag_id_seq to anon`);
    await graph.reload();
    const ofOthers = [
      '{ otherCollection { edges { node { note } } } }',
      'mutation { insertIntootherCollection(objects: [{ note: "more" }]) { affectedCount } }',
    ];
    const ofLocked = [
      read,
      'mutation { insertIntoentryCollection(objects: [{ note: "waited" }]) { affectedCount } }',
      '{ tagCollection { edges { node { entry { note } } } } }',
      '{ otherCollection { edges { node { id } } } entryCollection { edges { node { id } } } }',
    ];
    let waiting: Promise<ExecutionResult>[] = [];
    await whileLocked(async () => {
      const ask = (index: number) => graph.execute({ query: ofLocked[index % 4]! }, caller, { client: `user ${index}` });
      waiting = Array.from({ length: 100 }, (_, index) => ask(index));
      for (let round = 0; round < 40; round++) {
        const answer = await graph.execute({ query: ofOthers[round % 2]! }, caller, { client: `other ${round % 5}` });
        assert.equal(codeOf(answer), undefined);
      }
      // What waits for the lock gives spare connections back.
      await database.untilLocked('', 8);
    });
    assert.deepEqual(new Set((await Promise.all(waiting)).map(codeOf)), new Set([undefined]));
    assert.equal(await countNotes('waited'), 25);
  }));

test('mutations that were quick give spare connections back once a lock stops them, and each runs once', () =>
  withGraph({ poolSize: 10, queue: { timeout: 60_000 } }, async (graph) => {
    const insert = 'mutation Insert($note: String) { insertIntoentryCollection(objects: [{ note: $note }]) { affectedCount } }';
    const ask = (note: string, client: string) => graph.execute({ query: insert, variables: { note } }, caller, { client });
    for (let time = 0; time < 5; time++) assert.equal(codeOf(await ask('quick', 'first')), undefined);
    let waiting: Promise<ExecutionResult>[] = [];
    await whileLocked(async () => {
      waiting = Array.from({ length: 40 }, (_, index) => ask('stopped', `user ${index}`));
      const other = '{ __typename held }';
      assert.equal(codeOf(await graph.execute({ query: other }, caller, { client: 'other' })), undefined);
      await database.untilLocked('entry', 8);
    });
    assert.deepEqual(new Set((await Promise.all(waiting)).map(codeOf)), new Set([undefined]));
    assert.equal(await countNotes('stopped'), 40);
  }));

test('slow queries of several kinds do not hold all connections, and get their time nevertheless', () =>
  withGraph({ poolSize: 5, queue: { timeout: 60_000 } }, async (graph) => {
    const controller = new AbortController();
    const ask = (query: string, client: string) => graph.execute({ query }, caller, { client, signal: controller.signal });
    const naps = Array.from({ length: 4 }, (_, index) => ask('{ nap(seconds: 60) }', `napper ${index}`));
    await database.untilRunning('nap', 4);
    const doze = ask('{ doze(seconds: 60) }', 'dozer');
    await database.untilRunning('doze', 1);
    assert.equal(codeOf(await graph.execute({ query: read }, caller, { client: 'other' })), undefined);
    controller.abort();
    assert.deepEqual(new Set((await Promise.all([...naps, doze])).map(codeOf)), new Set(['CANCELLED']));
    const again = Array.from({ length: 5 }, (_, index) =>
      graph.execute({ query: '{ doze(seconds: 1.2) }' }, caller, { client: `${index}` }),
    );
    assert.deepEqual(new Set((await Promise.all(again)).map(codeOf)), new Set([undefined]));
  }));

test("a role's own lock_timeout holds on a spare connection, too: its query fails there, and waits nowhere else", async () => {
  await database.run(`alter role anon in database ${database.name} set lock_timeout = '10ms'`);
  try {
    await withGraph({ poolSize: 5 }, async (graph) => {
      const controller = new AbortController();
      const { signal } = controller;
      const naps = ['a', 'b', 'c', 'd'].map((client) => graph.execute({ query: '{ nap(seconds: 60) }' }, caller, { client, signal }));
      await database.untilRunning('nap', 4);
      await whileLocked(async () => {
        const { errors } = await graph.execute({ query: read }, caller, { client: 'other' });
        assert.deepEqual([errors?.[0]?.extensions.code, errors?.[0]?.extensions.sqlstate], ['CONFLICT', '55P03']);
      });
      controller.abort();
      await Promise.all(naps);
    });
  } finally {
    await database.run(`alter role anon in database ${database.name} reset lock_timeout`);
  }
});

test('a full queue refuses at once, and whoever floods it, not others', () =>
  withGraph({ poolSize: 5, queue: { length: 10 } }, async (graph) => {
    const keeper = await database.connect();
    await keeper.query('select pg_advisory_lock(1)');
    const flood = Array.from({ length: 100 }, () => graph.execute({ query: '{ held }' }, caller, { client: 'flood' }));
    const others = ['a', 'b', 'c'].map((client) => graph.execute({ query: read }, caller, { client }));
    assert.deepEqual((await Promise.all(others)).map(codeOf), [undefined, undefined, undefined]);
    await keeper.query('select pg_advisory_unlock(1)');
    const codes = (await Promise.all(flood)).map(codeOf);
    assert.ok(codes.filter((code) => code === 'OVERLOADED').length >= 85);
    assert.deepEqual(
      codes.filter((code) => code !== undefined && code !== 'OVERLOADED'),
      [],
    );
  }));

test('what waits for a connection takes no more memory than it may, and small requests are served beside large ones', () =>
  withGraph({ poolSize: 1, queue: { bytes: 1_200_000 } }, async (graph) => {
    const running = new AbortController();
    const nap = graph.execute({ query: '{ nap(seconds: 30) }' }, caller, { client: 'nap', signal: running.signal });
    await database.untilRunning('nap', 1);
    const query = 'mutation ($objects: [entryInsertInput!]!) { insertIntoentryCollection(objects: $objects) { affectedCount } }';
    const objects = Array.from({ length: 1500 }, (_, index) => ({ note: `large ${index}` }));
    const large = Array.from({ length: 8 }, () => graph.execute({ query, variables: { objects } }, caller, { client: 'flood' }));
    // Three of some 300 KB have room.
    const codes: unknown[] = [];
    for (const answer of large) void answer.then((result) => codes.push(codeOf(result)));
    await until(() => codes.length === 5);
    assert.deepEqual(codes, Array(5).fill('OVERLOADED'));
    const small = graph.execute({ query: read }, caller, { client: 'other' });
    running.abort();
    await nap;
    assert.equal(codeOf(await small), undefined);
    await Promise.all(large);
    assert.deepEqual(codes.slice(5), Array(3).fill(undefined));
  }));

test('one client does not hold all connections', () =>
  withGraph({ poolSize: 5 }, async (graph) => {
    const controller = new AbortController();
    const options = { client: 'hog', signal: controller.signal };
    const hog = Array.from({ length: 50 }, () => graph.execute({ query: '{ nap(seconds: 30) }' }, caller, options));
    await database.untilRunning('nap', 4);
    assert.equal(codeOf(await graph.execute({ query: read }, caller, { client: 'other' })), undefined);
    controller.abort();
    assert.deepEqual(new Set((await Promise.all(hog)).map(codeOf)), new Set(['CANCELLED']));
  }));

test('a network that falls silent: requests end in time, and the next are served as soon as it is back', async () => {
  const proxy = await startSilentProxy(databases.port);
  const url = database.url.replace(`:${database.port}/`, `:${proxy.port}/`);
  const graph = await createRowgraph({ database: url, poolSize: 3 });
  const inParallel = (timeout?: number) =>
    Promise.all(Array.from({ length: 6 }, () => graph.execute({ query: read }, caller, { timeout })));
  assert.deepEqual((await inParallel()).map(codeOf), Array(6).fill(undefined));
  proxy.fallSilent();
  assert.deepEqual(new Set((await inParallel(300)).map(codeOf)), new Set(['TIMEOUT']));
  const mutation = await graph.execute({ query: 'mutation { slow(note: "lost", seconds: 0) }' }, caller, { timeout: 300 });
  assert.ok(['TIMEOUT', 'OUTCOME_UNKNOWN'].includes(String(codeOf(mutation))));
  proxy.speak();
  assert.equal(codeOf(await graph.execute({ query: read }, caller)), undefined, 'the next one is served');
  assert.deepEqual((await inParallel()).map(codeOf), Array(6).fill(undefined));
  await graph.close();
  await proxy.stop();
});

test('a mutation that was under way when the network fell silent may have been committed, and its client is told so', async () => {
  const proxy = await startSilentProxy(databases.port);
  const keeper = await database.connect();
  await keeper.query('select pg_advisory_lock(1)');
  const graph = await createRowgraph({ database: database.url.replace(`:${database.port}/`, `:${proxy.port}/`) });
  const query = 'mutation { held_write(note: "unheard") }';
  const deadline = new Deadline(3_600_000);
  const unheard = graph.execute({ query }, caller, { deadline });
  await database.untilRunning('held_write', 1);
  proxy.fallSilent();
  await keeper.query('select pg_advisory_unlock(1)');
  await until(async () => (await countNotes('unheard')) === 1);
  deadline.stop('expired');
  assert.equal(codeOf(await unheard), 'OUTCOME_UNKNOWN');
  proxy.speak();
  await graph.close();
  await proxy.stop();
});

test('closing ends in time, whatever runs', async () => {
  const proxy = await startSilentProxy(databases.port);
  for (const isSilent of [false, true]) {
    const graph = await createRowgraph({ database: database.url.replace(`:${database.port}/`, `:${proxy.port}/`) });
    const running = graph.execute({ query: '{ nap(seconds: 30) }' }, caller);
    await database.untilRunning('nap', 1);
    if (isSilent) proxy.fallSilent();
    await graph.close();
    assert.notEqual(codeOf(await running), undefined);
    await database.run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'");
  }
  await proxy.stop();
});

test('a response that is too large is refused, and PostgreSQL is stopped', () =>
  withGraph({ poolSize: 1, limits: { responseBytes: 100_000 }, timeout: 3_600_000 }, async (graph) => {
    const ask = async (size: number) => codeOf(await graph.execute({ query: `{ big(size: ${size}) }` }, caller));
    assert.equal(await ask(99_000), undefined);
    assert.equal(await ask(100_001), 'RESPONSE_TOO_LARGE');
    assert.equal(await ask(40_000_000), 'RESPONSE_TOO_LARGE');
    const fields = Array.from({ length: 4 }, (_, index) => `f${index}: big(size: 30000)`).join(' ');
    assert.equal(codeOf(await graph.execute({ query: `{ ${fields} }` }, caller)), 'RESPONSE_TOO_LARGE');
    assert.equal(await ask(99_000), undefined);
    for (const size of [100_001, 1_000_000, 20_000_000]) {
      const note = `big ${size}`;
      const query = `mutation { bigWrite: big_write(note: "${note}", size: ${size}) more: slow(note: "${note}", seconds: 0) }`;
      const { errors } = await graph.execute({ query }, caller);
      assert.equal(errors?.[0]?.extensions.code, 'RESPONSE_TOO_LARGE');
      const [, outcome] = /(Nothing was changed|was committed)/.exec(errors[0].message) ?? [];
      assert.equal(await countNotes(note), outcome === 'was committed' ? 2 : 0, `${size}: ${outcome}`);
    }
  }));

test("a role's own settings hold as after a login, and its statement_timeout where it is smaller", async () => {
  await database.run(`alter role anon set statement_timeout = '1h'; alter role anon set app.tenant = 'seven';
    alter role anon set work_mem = '7MB'; alter role anon set default_transaction_isolation = 'serializable';
    alter role authenticated set default_transaction_read_only = on; alter role anon in database ${database.name} set app.tenant = 'eight';
    do $$ begin for i in 1..120 loop execute format('alter role anon set app.number_%s = %s', i, i); end loop; end $$`);
  try {
    await withGraph({ timeout: 24 * 3_600_000 }, async (graph) => {
      const names = ['app.tenant', 'work_mem', 'transaction_isolation', 'statement_timeout', 'transaction_read_only', 'app.number_120'];
      const query = `{ ${names.map((name, index) => `f${index}: setting(name: "${name}")`).join(' ')} }`;
      const valuesOf = async (role: string) => Object.values((await graph.execute({ query }, { role })).data ?? {});
      assert.deepEqual(await valuesOf('anon'), ['eight', '7MB', 'serializable', '1h', 'off', '120']);
      const [tenant, memory, isolation, , readOnly] = await valuesOf('authenticated');
      assert.deepEqual([tenant ?? '', memory, isolation, readOnly], ['', '4MB', 'read committed', 'on']);
      // A change is noticed, as those of grants are.
      await database.run(`alter role anon set work_mem = '9MB'`);
      await graph.reload();
      assert.equal((await valuesOf('anon'))[1], '9MB');
      await database.run(`alter role anon set statement_timeout = '100ms'`);
      await graph.reload();
      assert.equal(codeOf(await graph.execute({ query: '{ nap(seconds: 20) }' }, caller)), 'TIMEOUT');
    });
  } finally {
    await database.run('alter role anon reset all; alter role authenticated reset all');
    await database.run(`alter role anon in database ${database.name} reset all`);
  }
});

test('floating point numbers have all of their digits and lists their nulls, whatever a role, a database or a server says', async () => {
  const rounding = await databases.create(
    `create table measure (value float8 primary key); insert into measure values (0.1::float8 + 0.2), (0.3);
    create function echo(list text[]) returns text[] immutable language sql as 'select list'`,
  );
  const query = '{ measureCollection { edges { cursor node { value } } } }';
  const next = 'query ($after: Cursor) { measureCollection(first: 1, after: $after) { edges { node { value } } } }';
  try {
    for (const object of ['role anon', `database ${rounding.name}`]) {
      await rounding.run(`alter ${object} set extra_float_digits = -3; alter ${object} set array_nulls = off`);
      const graph = await createRowgraph({ database: rounding.url });
      const { data } = await graph.execute({ query }, caller);
      const { edges } = data!.measureCollection as { edges: { cursor: string; node: { value: number } }[] };
      assert.deepEqual(
        edges.map(({ node }) => node.value),
        [0.3, 0.30000000000000004],
      );
      const following = await graph.execute({ query: next, variables: { after: edges[1]!.cursor } }, caller);
      assert.deepEqual(following, { data: { measureCollection: { edges: [] } } });
      assert.deepEqual(await graph.execute({ query: '{ echo(list: ["NULL", null]) }' }, caller), { data: { echo: ['NULL', null] } });
      await graph.close();
    }
  } finally {
    await rounding.run('alter role anon reset extra_float_digits; alter role anon reset array_nulls');
  }
});

test("what a login passes over of a role's own settings harms no request", async () => {
  const own =
    await databases.create(`${setup} create text search configuration words (copy = simple); create role writer; grant writer to authenticator;
    create role reporter; grant reporter to authenticator; grant usage on schema public to writer, reporter; grant all on entry to writer;
    grant all on all sequences in schema public to writer;
    create function fill() returns int volatile language plpgsql as $$ begin
      create temp table filled on commit drop as select 1; return 1; end $$`);
  await own.run(`alter role reporter set default_text_search_config = 'words'; alter role reporter set log_min_messages = 'error';
    alter role reporter set app.tenant = 'nine'; alter role reporter set temp_buffers = '16MB'; alter role writer set default_transaction_read_only = off;
    alter database ${own.name} set default_transaction_read_only = on`);
  const graph = await createRowgraph({ database: own.url, poolSize: 1 });
  const ask = (role: string, query: string) => graph.execute({ query }, { role });
  const names = ['default_text_search_config', 'app.tenant', 'log_min_messages'];
  const settings = `{ ${names.map((name, index) => `f${index}: setting(name: "${name}")`).join(' ')} }`;
  const write = 'mutation { insertIntoentryCollection(objects: [{ note: "written" }]) { affectedCount } fill }';
  assert.deepEqual((await ask('reporter', settings)).data, { f0: 'public.words', f1: 'nine', f2: 'warning' });
  assert.deepEqual((await ask('writer', write)).data, { insertIntoentryCollection: { affectedCount: 1 }, fill: 1 });
  assert.equal(codeOf(await ask('anon', write)), 'READ_ONLY');
  assert.deepEqual(
    (await ask('reporter', settings)).data,
    { f0: 'public.words', f1: 'nine', f2: 'warning' },
    'temporary tables stop nobody',
  );
  // Also if that changes while requests are served.
  await own.run('drop text search configuration words');
  assert.deepEqual((await ask('reporter', settings)).data, { f0: 'pg_catalog.english', f1: 'nine', f2: 'warning' });
  if (databases.version >= 15) {
    await own.run('grant set on parameter log_min_messages to authenticator');
    await graph.reload();
    assert.equal((await ask('reporter', settings)).data?.f2, 'error');
    await own.run('revoke set on parameter log_min_messages from authenticator');
    assert.equal((await ask('reporter', settings)).data?.f2, 'warning');
  }
  await graph.close();
});

test('the first request of a role does not wait longer for its schema than for anything else', async () => {
  const proxy = await startSilentProxy(databases.port);
  const graph = await createRowgraph({ database: database.url.replace(`:${database.port}/`, `:${proxy.port}/`), timeout: 200 });
  proxy.fallSilent();
  assert.equal(codeOf(await graph.execute({ query: read }, { role: 'authenticated' })), 'TIMEOUT');
  await graph.close();
  await proxy.stop();
});

test('a response that is too large in company fails alone', () =>
  withGraph({ poolSize: 2, limits: { responseBytes: 100_000 } }, async (graph) => {
    const query = 'query ($size: Int!) { big(size: $size) }';
    const ask = async (size: number) => codeOf(await graph.execute({ query, variables: { size } }, caller, { client: `client ${size}` }));
    // Quick ones of a kind come to share connections.
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 16 }, (_, index) => ask(index)));
    const sizes = Array.from({ length: 24 }, (_, index) => (index % 6 === 5 ? 20_000_000 : index));
    const codes = await Promise.all(sizes.map(ask));
    assert.deepEqual(
      codes,
      sizes.map((size) => (size > 100_000 ? 'RESPONSE_TOO_LARGE' : undefined)),
    );
  }));
