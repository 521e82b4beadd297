import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch, Database, Rows } from '../database/database.ts';
import { DatabaseError } from '../errors/database-error.ts';
import type { Event } from '../events.ts';
import { parsePosition } from './position.ts';
import { Replicas } from './replicas.ts';

/** Servers whose state the test sets. */
interface State {
  timeline: number;
  /** Hexadecimal. */
  written: string;
  replayed: string;
  isAway: boolean;
  /** What the replica does with batches. */
  run: (batch: Batch) => unknown;
}

async function startReplicas(context: { after(close: () => Promise<void>): void }) {
  const state: State = { timeline: 1, written: 'A0', replayed: 'A0', isAway: false, run: () => [['answer']] };
  const asked: Batch[] = [];
  let looks = 0;
  const none = () => assert.fail('not for replicas');
  const common = { sessions: null, tryOut: none, listen: none, readCaches: () => [], close: async () => {} };
  const primary = {
    run: () => assert.fail('the replicas run nothing on the primary'),
    query: async (): Promise<Rows> => {
      looks += 1;
      if (state.isAway) throw new DatabaseError('away', { sqlstate: null });
      const file = `${String(state.timeline).padStart(8, '0')}0000000000000001`;
      return [['77', file, `0/${state.written}`, `0/${state.written}`]];
    },
  };
  const standby: Database = {
    ...common,
    run: async (batch) => {
      asked.push(batch);
      return state.run(batch) as never;
    },
    query: async () => [['true', '77', `0/${state.replayed}`, String(state.timeline), 'true']],
    readStatistics: () => ({ pool: null }) as never,
  };
  const events: Event[] = [];
  const replicas = new Replicas({
    replicas: [['one', () => standby]],
    primary,
    isOnBudget: false,
    maxLagMillis: 1000,
    observe: (event) => events.push(event),
  });
  context.after(() => replicas.close());
  await replicas.examine();
  const read = (client: string, position: string | null = null) =>
    replicas.read({ session: null, statements: [] }, client, position === null ? null : parsePosition(position));
  const write = (client: string, lsn: string, timeline = state.timeline): string | undefined => {
    let said: string | undefined;
    const row = ['77', `${String(timeline).padStart(8, '0')}0000000000000001`, `0/${lsn}`];
    replicas
      .followUp(client, ({ text }) => {
        said = text;
      })
      .note(row);
    return said;
  };
  /** What a query had to see on the replica; undefined if it did not run there. */
  const neededBy = async (client: string, position: string | null = null): Promise<string | null | undefined> => {
    asked.length = 0;
    await read(client, position);
    return asked.length === 0 ? undefined : (asked[0]!.precondition?.parameters[0] ?? null);
  };
  return { state, replicas, events, asked, read, write, neededBy, countLooks: () => looks };
}

test('a client must see what it wrote, or says that it must see, whichever is later', async (context) => {
  const { state, write, neededBy } = await startReplicas(context);
  state.written = 'F0';
  assert.equal(write('ada', 'B0'), '77.1.0/B0');
  assert.equal(await neededBy('ada'), '0/B0');
  assert.equal(await neededBy('bela'), null);
  assert.equal(await neededBy('bela', '77.1.0/C0'), '0/C0');
  assert.equal(await neededBy('ada', '77.1.0/A0'), '0/B0');
  assert.equal(await neededBy('ada', '77.1.0/C0'), '0/C0');
  write('ada', 'A8');
  assert.equal(await neededBy('ada'), '0/B0', 'an earlier write that is noted late changes nothing');
});

test('what the log has not reached, and what is of another cluster, is ignored; the primary is asked a few times', async (context) => {
  const { neededBy, read, countLooks } = await startReplicas(context);
  assert.equal(await neededBy('eve', '77.1.FF/0'), null);
  assert.equal(await neededBy('eve', '77.9.0/1'), null);
  assert.equal(await neededBy('eve', '78.1.FF/0'), null);
  const before = countLooks();
  await Promise.all(Array.from({ length: 1000 }, () => read('eve', '77.1.FF/0')));
  assert.ok(countLooks() - before <= 3);
});

test('while the primary does not say how far the log is, it decides itself', async (context) => {
  const { state, neededBy } = await startReplicas(context);
  state.isAway = true;
  assert.equal(await neededBy('ada', '77.1.0/FF'), undefined);
  assert.equal(await neededBy('ada', '77.1.0/A0'), '0/A0');
  assert.equal(await neededBy('bela'), null);
});

test('no position is compared across a promotion', async (context) => {
  const { state, replicas, events, write, neededBy } = await startReplicas(context);
  write('ada', 'B0');
  state.timeline = 2;
  assert.equal(write('bela', '90'), '77.2.0/90');
  assert.deepEqual(events.at(-2), { kind: 'primary-promoted', from: 1, to: 2 });
  assert.equal(await neededBy('cleo'), undefined, 'nothing is known of the replica yet');
  state.written = '90';
  await replicas.examine();
  assert.equal(await neededBy('cleo'), null);
  assert.equal(await neededBy('bela'), '0/90');
  assert.equal(await neededBy('ada'), undefined);
  assert.equal(await neededBy('cleo', '77.1.0/80'), undefined);
});

test('after a write whose outcome is unknown, the primary answers', async (context) => {
  const { replicas, neededBy } = await startReplicas(context);
  replicas.noteDoubt('ada');
  replicas.followUp('bela', () => assert.fail('there is no position')).note(null);
  assert.equal(await neededBy('ada'), undefined);
  assert.equal(await neededBy('bela'), undefined);
  assert.equal(await neededBy('cleo'), null);
});

test('a replica that is behind rests, for everybody who needs more than it had', async (context) => {
  const { state, replicas, write, neededBy } = await startReplicas(context);
  state.run = () => {
    throw new DatabaseError('rowgraph: behind 0/A0', { sqlstate: '22P02', reason: 'behind' });
  };
  write('ada', 'B0');
  assert.equal(await neededBy('ada'), '0/B0');
  assert.equal(await neededBy('ada'), undefined);
  state.run = () => [];
  assert.equal(await neededBy('bela', '77.1.0/A0'), '0/A0');
  assert.deepEqual(replicas.readStatistics()[0]?.behind, 1);
});

test('when more have written than are remembered, everybody must see what the first one wrote', async (context) => {
  const { state, replicas, write, neededBy } = await startReplicas(context);
  for (let client = 0; client <= 10_000; client += 1) write(`client ${client}`, 'B0');
  assert.equal(await neededBy('client 0'), undefined);
  assert.equal(await neededBy('nobody'), undefined);
  state.written = 'B0';
  state.replayed = 'B0';
  await replicas.examine();
  assert.equal(await neededBy('nobody'), null);
});

test('only failures of the request itself are final', async (context) => {
  const { state, read, replicas } = await startReplicas(context);
  const fail = (sqlstate: string | null, reason?: 'timeout' | 'overloaded') => () => {
    throw new DatabaseError('failed', { sqlstate, ...(reason && { reason }) });
  };
  for (const sqlstate of ['42703', '40001', '25006', 'RG001']) {
    state.run = fail(sqlstate);
    assert.equal(await read('ada'), null, sqlstate);
  }
  for (const run of [fail('57014'), fail(null, 'timeout'), fail(null, 'overloaded')]) {
    state.run = run;
    await assert.rejects(read('ada'), /failed/);
  }
  state.run = fail(null);
  assert.equal(await read('ada'), null);
  assert.equal(replicas.isUsable, false, 'a connection has failed');
  await nextTurn();
});
