import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../budget/deadline.ts';
import type { Batch, RoleDefaults } from '../database.ts';
import { countLeading } from '../session-statement.ts';
import { type ConnectionUse, encodeBatches, encodeScript, isPrepared } from './encode-batch.ts';
import { PreparedStatements } from './prepared-statements.ts';

const batchOf = (role: string, parameter: string, defaults?: RoleDefaults): Batch => ({
  session: { role, claims: `{"sub":"${role}"}`, searchPath: 'public', version: null, defaults },
  statements: [{ text: 'select $1::text', parameters: [parameter] }],
});

const encode = (batch: Batch, connection: ConnectionUse): Buffer => encodeBatches([batch], connection);

/** A connection that keeps all settings that a batch needs. */
function keeping(prepared: PreparedStatements | null): ConnectionUse {
  return { prepared, use: 'kept', kept: null, unlimits: false, hasTimers: true };
}

/** A value that fails to encode when the session statement is already in the buffer. */
const poison = new Proxy(new String('x'), {
  get() {
    throw new Error('no such value');
  },
}) as unknown as string;

test('a batch that cannot be encoded leaves nothing behind for the next one', () => {
  const expected = encode(batchOf('victim', 'mine'), keeping(null));
  for (const prepared of [null, new PreparedStatements(10)]) {
    assert.throws(() => encode(batchOf('attacker', poison), keeping(prepared)), /no such value/);
    assert.equal(prepared?.size ?? 0, 0);
    const bytes = encode(batchOf('victim', 'mine'), keeping(null));
    assert.deepEqual(bytes, expected);
    assert.ok(!bytes.includes('attacker'));
  }
  assert.throws(() => encode(batchOf('attacker', poison), keeping(null)));
  assert.equal(encodeScript('select 1').toString('latin1'), 'Q\0\0\0\rselect 1\0');
});

test('a batch that cannot be encoded leaves statements to be closed to the next one', () => {
  const prepared = new PreparedStatements(2);
  const send = (text: string) => {
    const bytes = encode({ session: null, statements: [{ text, parameters: [] }] }, keeping(prepared)).toString('latin1');
    prepared.settle(1);
    return bytes;
  };
  const [, name = ''] = /P\0{3}.(rowgraph_[^\0]+)\0select 1\0/.exec(send('select 1')) ?? [];
  send('select 2');
  send('select 3');
  assert.ok(name !== '' && prepared.size === 2);
  assert.throws(
    () => encode({ session: null, statements: [{ text: 'select 3', parameters: [poison] }] }, keeping(prepared)),
    /no such value/,
  );
  const closed = `S${name}\0`;
  assert.ok(send('select 3').includes(closed));
  assert.ok(!send('select 3').includes(closed));
});

test('a statement is parsed once for roles that share it, with a text of their own', () => {
  const parsed = (batch: Batch, prepared: PreparedStatements): string[] => {
    const bytes = encode(batch, keeping(prepared)).toString('latin1');
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
  assert.ok(isPrepared({ ...batchOf('other', 'x'), preparedFor: '\0alike' }, keeping(prepared)));
  assert.ok(!isPrepared(batchOf('other', 'x'), keeping(prepared)));
});

test('each use of what the connection keeps has a text of its own, which counts as prepared when it is', () => {
  const unlimited = { ...batchOf('anon', 'x'), deadline: new Deadline(Infinity) };
  const limited = { ...batchOf('anon', 'x'), deadline: new Deadline(30_000) };
  limited.deadline.end();
  const settings = (batch: Batch, connection: ConnectionUse): string[] => {
    const bytes = encode(batch, connection).toString('latin1');
    return [...bytes.matchAll(/set_config\('(?:jit|statement_timeout)', .*?(?:true|integer)\)/g)].map(([text]) => text);
  };
  const jit = "set_config('jit', 'off', true)";
  const timeout = (parameter: number) => `set_config('statement_timeout', $${parameter}, true)`;
  const isForeign = 'pg_backend_pid() <> $4::integer';
  const kept = { backend: 7, timeout: 30_000 };
  const cases: readonly (readonly [Batch, Partial<ConnectionUse>, readonly string[]])[] = [
    [limited, { use: 'transaction' }, [jit, timeout(4)]],
    [unlimited, { use: 'transaction' }, [jit]],
    [limited, { use: 'transaction', hasTimers: false }, [jit]],
    [limited, { use: 'kept' }, []],
    [limited, { use: 'limited' }, [timeout(4)]],
    [unlimited, { use: 'limited' }, [timeout(4)]],
    [
      limited,
      { use: 'connection', kept },
      [`set_config('jit', 'off', ${isForeign})`, `set_config('statement_timeout', $5, ${isForeign})`, timeout(6)],
    ],
  ];
  for (const [batch, use, expected] of cases) {
    const prepared = new PreparedStatements(10);
    const connection = { ...keeping(prepared), ...use };
    assert.ok(!isPrepared(batch, connection));
    assert.deepEqual(settings(batch, connection), expected, JSON.stringify(use));
    prepared.settle(2);
    assert.equal(isPrepared(batch, connection), use.use !== 'connection', 'one that keeps settings must be alone');
  }
});

test('a statement of more than 100,000 characters is not prepared by name', () => {
  const prepared = new PreparedStatements(10);
  const of = (length: number) => ({ session: null, statements: [{ text: `select '${'x'.repeat(length)}'`, parameters: [] }] });
  for (const length of [90_000, 100_000]) {
    encode(of(length), keeping(prepared));
    prepared.settle(1);
    assert.equal(isPrepared(of(length), keeping(prepared)), length < 100_000);
  }
  assert.equal(prepared.size, 1);
});

test('the settings of a role come before the role, and its isolation level comes first', () => {
  const defaults = { statementTimeout: null, isolation: 'serializable', mayWrite: false, settings: [['work_mem', '7MB']] } as const;
  const batch = batchOf('anon', 'x', defaults);
  assert.equal(countLeading(batch), 2);
  const texts = encode(batch, keeping(null)).toString('latin1');
  const places = ["set transaction_isolation = 'serializable'", 'set_config($4, $5, true)', "set_config('role'", 'select $1::text'].map(
    (text) => texts.indexOf(text),
  );
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.ok(!places.includes(-1));
  // An unknown level must not become SQL: it would put the text of a setting into a statement.
  assert.equal(countLeading(batchOf('anon', 'x', { ...defaults, isolation: "serializable'; drop table x; --" })), 1);
});
