import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DatabaseError } from '../../errors/database-error.ts';
import { unreadParameter } from '../../errors/from-postgres.ts';
import type { Routine } from '../../model/routine.ts';
import type { FieldWork } from '../../plan/work.ts';
import { findSuspects } from './locate-error.ts';

const failed = (sqlstate: string, context?: string) => new DatabaseError('x', { sqlstate, ...(context !== undefined && { context }) });
const call = (name: string, plpgsql = true): FieldWork => ({
  path: [name],
  kind: 'call',
  routine: { name, plpgsql } as Routine,
  parameters: [],
  ofWrite: false,
});
const suspectsOf = (error: DatabaseError, ...work: FieldWork[]) => findSuspects(error, work)?.map(({ path }) => path[0]);

describe('unreadParameter', () => {
  it('is found in the languages of PostgreSQL, whatever reads the value', () => {
    for (const context of [
      'unnamed portal parameter $12',
      "unnamed portal parameter $12 = '...'",
      "unbenanntes Portal Parameter $12 = '...'",
      "paramètre de portail non nommé $12 = '...'",
      "無名ポータルパラメータ $12 = '...'",
      "이름없는 포탈 $12 매개 변수 = '...'",
      "неименованный портал, параметр $12 = '...'",
      "JSON data, line 1: {\nunnamed portal parameter $12 = '...'",
      "PL/pgSQL function check_it(text) line 1 at RAISE\nunnamed portal parameter $12 = '...'",
    ]) {
      assert.equal(unreadParameter(failed('22P02', context)), 12, context);
    }
  });

  it('is not a parameter of a function, or one in a list', () => {
    for (const context of [
      undefined,
      'SQL statement "select $1"\nPL/pgSQL function f(integer) line 3 at SQL statement',
      'PL/pgSQL assignment "x := $1"\nPL/pgSQL function a$1(integer) line 3 at assignment',
      "unnamed portal with parameters: $1 = '12'",
      "portail non nommé avec les paramètres : « $1 = '12' »",
      "無名ポータル: $1 = '12'",
    ]) {
      assert.equal(unreadParameter(failed('22P02', context)), null, context);
    }
  });
});

describe('findSuspects', () => {
  it('recognizes functions on the stack by their outermost frame, in the languages of PostgreSQL', () => {
    const work = [call('f'), call('g'), call('F-1')];
    for (const [frame, expected] of [
      ['PL/pgSQL function f(integer) line 1 at RAISE', 'f'],
      ['PL/pgSQL function public.f(integer) line 1 at RAISE', 'f'],
      ['PL/pgSQL-Funktion f(integer) Zeile 1 bei RAISE', 'f'],
      ['PL/pgSQL関数f(integer)の1行目 - RAISE', 'f'],
      ['在RAISE的第1行的PL/pgSQL函数f(integer)', 'f'],
      ['PL/pgSQL 함수 "f(integer)" 의 1번째 RAISE', 'f'],
      ['PL/pgSQL function g(integer) line 1 at RAISE\nPL/pgSQL function f(integer) line 1 at RETURN', 'f'],
      ['SQL function "f" statement 1', 'f'],
      ['SQL-Funktion »f« Anweisung 1', 'f'],
      ['fonction SQL « f », instruction 1', 'f'],
      ['función SQL «f» en la sentencia 1', 'f'],
      ['PL/pgSQL function "F-1"(integer) line 1 at RAISE', 'F-1'],
    ]) {
      assert.deepEqual(suspectsOf(failed('P0001', frame), ...work), [expected], frame);
    }
    assert.deepEqual(suspectsOf(failed('P0001', 'PL/pgSQL function half(integer) line 1 at RAISE'), ...work), []);
  });

  it('includes functions that may be inlined', () => {
    const work = [call('f'), call('g'), call('h', false)];
    assert.deepEqual(suspectsOf(failed('22012', 'PL/pgSQL function f(integer) line 1 at RAISE'), ...work), ['f', 'h']);
    assert.deepEqual(suspectsOf(failed('22012'), ...work), ['h']);
  });

  it('suspects everything if the error may be one of the statement, or its context is not understood', () => {
    for (const sqlstate of ['22P05', '57014', '42501', '53200', 'XX000', '54001'])
      assert.equal(findSuspects(failed(sqlstate), [call('f')]), null);
    for (const context of [
      "portal sin nombre, parámetro 1 = '...'",
      "unnamed portal with parameters: $1 = 'SQL'",
      'PL/Python function "f"',
    ])
      assert.equal(findSuspects(failed('22P02', context), [call('f')]), null);
    assert.deepEqual(suspectsOf(failed('57014', 'PL/pgSQL function f(integer) line 1 at PERFORM'), call('f'), call('g')), ['f']);
  });
});
