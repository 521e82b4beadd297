import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../budget/deadline.ts';
import type { Batch, RoleDefaults } from '../database.ts';
import { countLeading } from '../session-statement.ts';
import { encodeBatches, encodeScript, isPrepared } from './encode-batch.ts';
import { PreparedStatements } from './prepared-statements.ts';

const batchOf = (role: string, parameter: string, defaults?: RoleDefaults): Batch => ({
  session: { role, claims: `{"sub":"${role}"}`, searchPath: 'public', version: null, defaults },
  statements: [{ text: 'select $1::text', parameters: [parameter] }],
});

const encode = (batch: Batch, prepared: PreparedStatements | null): Buffer => encodeBatches([batch], prepared);

/** A value that fails to encode when the session statement is already in the buffer. */
const poison = new Proxy(new String('x'), {
  get() {
    throw new Error('no such value');
  },
}) as unknown as string;

test('a batch that cannot be encoded leaves nothing behind for the next one', () => {
  const expected = encode(batchOf('victim', 'mine'), null);
  for (const prepared of [null, new PreparedStatements(10)]) {
    assert.throws(() => encode(batchOf('attacker', poison), prepared), /no such value/);
    assert.ok(!prepared?.has('', 'select 1'));
    const bytes = encode(batchOf('victim', 'mine'), null);
    assert.deepEqual(bytes, expected);
    assert.ok(!bytes.includes('attacker'));
  }
  assert.throws(() => encode(batchOf('attacker', poison), null));
  assert.equal(encodeScript('select 1').toString('latin1'), 'Q\0\0\0\rselect 1\0');
});

test('a batch that cannot be encoded leaves statements to be closed to the next one', () => {
  const counts = { entries: 0, hits: 0, misses: 0 };
  const prepared = new PreparedStatements(2, counts);
  const send = (text: string) => {
    const bytes = encode({ session: null, statements: [{ text, parameters: [] }] }, prepared).toString('latin1');
    prepared.settle(1);
    return bytes;
  };
  const [, name = ''] = /P\0{3}.(rowgraph_[^\0]+)\0select 1\0/.exec(send('select 1')) ?? [];
  send('select 2');
  send('select 3');
  assert.ok(name !== '' && counts.entries === 2);
  assert.throws(() => encode({ session: null, statements: [{ text: 'select 3', parameters: [poison] }] }, prepared), /no such value/);
  const closed = `S${name}\0`;
  assert.ok(send('select 3').includes(closed));
  assert.ok(!send('select 3').includes(closed));
});

test('a statement is parsed once for roles that share it, with a text of their own', () => {
  const parsed = (batch: Batch, prepared: PreparedStatements): string[] => {
    const bytes = encode(batch, prepared).toString('latin1');
    prepared.settle(2);
    return [...bytes.matchAll(/P.{4}(rowgraph_[^\0]+)\0(select \$1::text[^\0]*)\0/gs)].map(([, name, text]) => {
      assert.equal(text, `select $1::text /* ${name} */`);
      return name!;
    });
  };
  const prepared = new PreparedStatements(10);
  const names = ['anon', 'admin'].flatMap((role) => parsed(batchOf(role, 'x'), prepared));
  const shared = ['anon', 'admin'].flatMap((role) => parsed({ ...batchOf(role, 'x'), preparedFor: '\0alike' }, prepared));
  assert.deepEqual([names.length, shared.length, new Set([...names, ...shared]).size], [2, 1, 3]);
  assert.ok(isPrepared({ ...batchOf('other', 'x'), preparedFor: '\0alike' }, prepared));
  assert.ok(!isPrepared(batchOf('other', 'x'), prepared));
});

test('the session statement sets a time limit only if there is one, and its text counts as prepared when it is', () => {
  const unlimited = { ...batchOf('anon', 'x'), deadline: new Deadline(Infinity) };
  const limited = { ...batchOf('anon', 'x'), deadline: new Deadline(30_000) };
  limited.deadline.end();
  const settings = (batch: Batch, prepared: PreparedStatements, hasTimers = true): string[] => {
    const bytes = encodeBatches([batch], prepared, hasTimers).toString('latin1');
    return [...bytes.matchAll(/set_config\('(?:jit|statement_timeout)', .*?true\)/g)].map(([text]) => text);
  };
  const jit = "set_config('jit', 'off', true)";
  const timeout = "set_config('statement_timeout', $4, true)";
  for (const [batch, expected] of [
    [limited, [jit, timeout]],
    [unlimited, [jit]],
  ] as const) {
    const prepared = new PreparedStatements(10);
    assert.ok(!isPrepared(batch, prepared));
    assert.deepEqual(settings(batch, prepared), expected);
    prepared.settle(2);
    assert.ok(isPrepared(batch, prepared));
  }
  assert.deepEqual(settings(limited, new PreparedStatements(10), false), [jit]);
});

test('a statement of more than 100,000 characters is not prepared by name', () => {
  const counts = { entries: 0, hits: 0, misses: 0 };
  const prepared = new PreparedStatements(10, counts);
  const of = (length: number) => ({ session: null, statements: [{ text: `select '${'x'.repeat(length)}'`, parameters: [] }] });
  for (const length of [90_000, 100_000]) {
    encode(of(length), prepared);
    prepared.settle(1);
    assert.equal(isPrepared(of(length), prepared), length < 100_000);
  }
  assert.equal(counts.entries, 1);
});

test('the settings of a role come before the role, and its isolation level comes first', () => {
  const defaults = { statementTimeout: null, isolation: 'serializable', mayWrite: false, settings: [['work_mem', '7MB']] } as const;
  const batch = batchOf('anon', 'x', defaults);
  assert.equal(countLeading(batch), 2);
  const texts = encode(batch, null).toString('latin1');
  const positions = ["set transaction_isolation = 'serializable'", 'set_config($4, $5, true)', "set_config('role'", 'select $1::text'].map(
    (text) => texts.indexOf(text),
  );
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
  assert.ok(!positions.includes(-1));
  // An unknown level must not become SQL: it would put the text of a setting into a statement.
  assert.equal(countLeading(batchOf('anon', 'x', { ...defaults, isolation: "serializable'; drop table x; --" })), 1);
});
