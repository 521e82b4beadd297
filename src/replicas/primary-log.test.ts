import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestDatabase, Rows } from '../database/database.ts';
import { PrimaryLog } from './primary-log.ts';

/** A log whose primary answers with the rows in turn, a second apart. */
function logOf(answers: readonly Rows[], keptMillis = 10_000) {
  let now = 1_000_000;
  let next = 0;
  const promotions: (readonly [number, number])[] = [];
  const database: RequestDatabase = {
    run: () => assert.fail(),
    query: async () => answers[next++] ?? assert.fail('the primary is away'),
  };
  const log = new PrimaryLog(
    database,
    keptMillis,
    (from, to) => promotions.push([from, to]),
    () => now,
  );
  const look = async (): Promise<void> => {
    now += 1000;
    await log.look();
  };
  return { log, look, promotions };
}

const at = (lsn: string, timeline = '00000001'): Rows => [['77', `${timeline}0000000000000001`, `0/${lsn}`, `0/${lsn}`]];

test('lag is the time since the log had nothing newer than what was replayed', async () => {
  const { log, look } = logOf([at('10'), at('20'), at('30'), at('30'), at('30')]);
  for (let count = 0; count < 5; count += 1) await look();
  assert.equal(log.lagOf(0x30n), 0);
  assert.equal(log.lagOf(0x31n), 0);
  assert.equal(log.lagOf(0x2fn), 3000, 'what came after 0x20 may have come right after it');
  assert.equal(log.lagOf(0x10n), 4000);
  assert.equal(log.lagOf(0xfn), Infinity);
});

test('while the primary is away, nobody falls behind', async () => {
  const { log, look } = logOf([at('10'), at('20')]);
  await look();
  await look();
  await assert.rejects(look());
  await assert.rejects(look());
  assert.equal(log.lagOf(0x20n), 0);
  assert.equal(log.lagOf(0x10n), 1000);
});

test('samples are kept for so long', async () => {
  const { log, look } = logOf([at('10'), at('20'), at('30'), at('40')], 1500);
  for (let count = 0; count < 4; count += 1) await look();
  assert.equal(log.lagOf(0x10n), Infinity);
  assert.equal(log.lagOf(0x20n), 2000);
});

test('a promotion begins anew; an answer of the old primary that comes late changes nothing', async () => {
  const { log, look, promotions } = logOf([at('10'), at('9', '00000002'), []]);
  await look();
  await look();
  assert.deepEqual(promotions, [[1, 2]]);
  assert.deepEqual(log.latest, { system: '77', timeline: 2, lsn: 9n });
  assert.equal(log.lagOf(0x10n), 0);
  assert.deepEqual(log.note(at('50')[0]!), { system: '77', timeline: 1, lsn: 0x50n });
  assert.deepEqual(log.latest, { system: '77', timeline: 2, lsn: 9n });
  await look();
  assert.equal(log.latest, null, 'the primary is a standby');
});
