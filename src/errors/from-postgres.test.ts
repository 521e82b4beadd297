import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from './database-error.ts';
import { toApiError } from './from-postgres.ts';

const codes: Readonly<Record<string, string>> = {
  '22P02': 'INVALID_VALUE',
  '22003': 'INVALID_VALUE',
  '23505': 'CONSTRAINT_VIOLATION',
  '44000': 'CONSTRAINT_VIOLATION',
  '42501': 'PERMISSION_DENIED',
  '0P000': 'PERMISSION_DENIED',
  '40001': 'CONFLICT',
  '40P01': 'CONFLICT',
  '40003': 'DATABASE_ERROR',
  '55P03': 'CONFLICT',
  '57014': 'TIMEOUT',
  '25006': 'READ_ONLY',
  '25P02': 'DATABASE_ERROR',
  '54001': 'QUERY_TOO_COMPLEX',
  P0001: 'RAISED',
  PT404: 'RAISED',
  '99X01': 'RAISED',
  '42P01': 'DATABASE_ERROR',
  '21000': 'DATABASE_ERROR',
  '0A000': 'DATABASE_ERROR',
  XX000: 'DATABASE_FAILED',
  XX001: 'DATABASE_FAILED',
  '58030': 'DATABASE_FAILED',
  F0000: 'DATABASE_FAILED',
  '57P04': 'DATABASE_UNAVAILABLE',
  '08006': 'DATABASE_UNAVAILABLE',
  '57P01': 'DATABASE_UNAVAILABLE',
  '53300': 'DATABASE_UNAVAILABLE',
  '53000': 'DATABASE_UNAVAILABLE',
  '53100': 'DATABASE_UNAVAILABLE',
  '53200': 'DATABASE_UNAVAILABLE',
  '53400': 'QUERY_TOO_COMPLEX',
  '28P01': 'DATABASE_UNAVAILABLE',
  '3D000': 'DATABASE_UNAVAILABLE',
};

test('each SQLSTATE has its code', () => {
  for (const [sqlstate, code] of Object.entries(codes)) {
    assert.equal(toApiError(new DatabaseError('x', { sqlstate })).code, code, sqlstate);
  }
  // PostgreSQL gives a hint if two objects of an upsert are the same row, and none if a subquery returns too many rows.
  assert.equal(toApiError(new DatabaseError('x', { sqlstate: '21000', hint: 'Ensure that …' })).code, 'CONSTRAINT_VIOLATION');
  const deep = { sqlstate: '54001', hint: 'Increase the configuration parameter "max_stack_depth"' };
  assert.match(String(toApiError(new DatabaseError('stack depth limit exceeded', deep)).details.hint), /^Send fewer words in a search/);
  const inFunction = { ...deep, context: 'PL/pgSQL function f() line 1 at RETURN' };
  assert.equal(toApiError(new DatabaseError('stack depth limit exceeded', inFunction)).message, 'stack depth limit exceeded');
  const messageOf = (routine?: string) => toApiError(new DatabaseError('x', { sqlstate: '08001', ...(routine && { routine }) })).message;
  assert.match(messageOf('connect_pg_server'), /another server/);
  assert.match(messageOf(), /^The database cannot be reached/);
  assert.equal(toApiError(new DatabaseError('connect ECONNREFUSED 10.0.0.1', { sqlstate: null })).code, 'DATABASE_UNAVAILABLE');
});

test('a value that a type cannot read is invalid, whatever the SQLSTATE', () => {
  const codeOf = (sqlstate: string, context: string) => toApiError(new DatabaseError('x', { sqlstate, context })).code;
  for (const sqlstate of ['42601', '42704', '42P01', '3F000', '0A000', 'XX000']) {
    assert.equal(codeOf(sqlstate, "unnamed portal parameter $1 = 'a &'"), 'INVALID_VALUE', sqlstate);
    assert.equal(
      codeOf(sqlstate, 'SQL function "find" statement 1'),
      sqlstate === 'XX000' ? 'DATABASE_FAILED' : 'DATABASE_ERROR',
      sqlstate,
    );
  }
  assert.equal(codeOf('23514', "unnamed portal parameter $1 = 'a'"), 'CONSTRAINT_VIOLATION');
});

test('a function that raises the SQLSTATE of a server in trouble has merely raised an error', () => {
  const fields = { detail: 'why', hint: 'how', constraint: 'c', table: 't', column: 'x', routine: 'exec_stmt_raise' };
  const raise = (sqlstate: string) => toApiError(new DatabaseError('not today', { sqlstate, ...fields }));
  for (const sqlstate of ['08006', '28000', '3D000', '53100', '53300', '57P01', '58030', 'F0000', 'XX000']) {
    const { code, message } = raise(sqlstate);
    assert.deepEqual([code, message], ['RAISED', 'not today'], sqlstate);
  }
  assert.equal(raise('23514').code, 'CONSTRAINT_VIOLATION');
  assert.equal(raise('42501').code, 'PERMISSION_DENIED');
  // All that the function says is for the client.
  const { routine: _, ...told } = fields;
  for (const sqlstate of ['42501', '40P01', '0P000', 'XX000', '53300', 'P0001', '23514', '42601'])
    assert.deepEqual(raise(sqlstate).details, { sqlstate, ...told }, sqlstate);
});

test('an escaped U+0000 in JSON is not a fault of the encoding', () => {
  const hintOf = (detail: string) =>
    toApiError(new DatabaseError('x', { sqlstate: '22P05', detail, context: "JSON data, line 1: ...\nunnamed portal parameter $1 = '…'" }))
      .details.hint;
  assert.match(String(hintOf('\\u0000 cannot be converted to text.')), /U\+0000.*\\u0000/);
  assert.match(String(hintOf('Unicode escape value could not be translated.')), /encoding/);
});

test('messages about the server are withheld from the client', () => {
  for (const sqlstate of [null, '08006', '28P01', '3D000', '53100', '53300', '57P01', '58030', 'XX000']) {
    const { message, details } = toApiError(
      new DatabaseError('private', {
        sqlstate,
        detail: 'private',
        hint: 'private',
        table: 'private',
        column: 'private',
        constraint: 'private',
      }),
    );
    assert.doesNotMatch(JSON.stringify([message, details]), /private/, String(sqlstate));
  }
  const denied = toApiError(new DatabaseError('permission denied', { sqlstate: '42501', detail: 'private', hint: 'private' }));
  assert.deepEqual([denied.message, denied.details], ['permission denied', { sqlstate: '42501' }]);
});

test('values that PostgreSQL quotes are shortened, but not what a function raises', () => {
  const long = 'x'.repeat(100_000);
  const message = `invalid input syntax for type integer: "${long}"`;
  const error = toApiError(new DatabaseError(message, { sqlstate: '22P02', detail: `Key (name)=(${long}) already exists.`, hint: long }));
  assert.equal(error.message, `invalid input syntax for type integer: "${'x'.repeat(100)}… (100000 characters)"`);
  assert.ok(JSON.stringify(error.details).length < 1000);
  const words = toApiError(new DatabaseError('word '.repeat(100_000), { sqlstate: '23514' }));
  assert.ok(words.message.length <= 1001);
  const raised = toApiError(new DatabaseError(long, { sqlstate: 'P0001', detail: long }));
  assert.deepEqual([raised.message, raised.details.detail], [long, long]);
});

test('our own messages are found in any language', () => {
  for (const message of [
    'invalid input syntax for type integer: "rowgraph: update-too-many"',
    'ungültige Eingabesyntax für Typ integer: »rowgraph: update-too-many«',
    'syntaxe en entrée invalide pour le type integer : « rowgraph: update-too-many »',
  ]) {
    const { code, message: told } = toApiError(new DatabaseError(message, { sqlstate: '22P02' }));
    assert.deepEqual([code, told], ['TOO_MANY_ROWS', 'update impacts too many records']);
  }
});
