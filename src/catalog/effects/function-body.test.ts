import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FunctionBody, wordsOfReaders } from './function-body.ts';

test('bodies that may change the session', () => {
  const bodies = [
    `select set_config('app.tenant', $1, false)`,
    `perform pg_catalog."set_config"('app.tenant', 'x', true);`,
    `begin set app.tenant = 'x'; end`,
    `begin if new.id > 1 then set local app.tenant to 'x'; end if; end`,
    `begin update account set name = 'x'; set app.tenant = 'x'; end`,
    `begin -- update\n set app.tenant = 'x'; end`,
    `begin /* update */ set app.tenant = 'x'; end`,
    `begin x := 'update'; set app.tenant = 'x'; end`,
    `begin if x = 'update' then set app.tenant = 'x'; end if; end`,
    `begin if "update" then set app.tenant = 'x'; end if; end`,
    `begin x := E'it\\'s'; update account set name = ''; end`,
    `begin <<update>> set app.tenant = 'x'; end`,
    `begin /* /* */ update */ set app.tenant = 'x'; end`,
    `begin execute 'se' || 't app.tenant = 1'; end`,
    'begin RESET ALL; end',
    'select pg_advisory_lock(1)',
    'begin create temp table loot as select 1; end',
    "select U&\"set\\005fconfig\"('app.tenant', 'x', false)",
  ];
  for (const body of bodies) assert.equal(new FunctionBody(body).mayChangeSession, true, body);
});

test('bodies that change nothing but their transaction', () => {
  const bodies = [
    'begin new.updated_at := now(); return new; end',
    `begin update account as a set name = 'set', email = case when a.id > 1 then 'x' else 'y' end; return new; end`,
    `insert into tag (name) values ($1) on conflict (name) do update set name = excluded.name returning id`,
    `begin merge into a using b on a.id = b.id when matched then update set x = 1 when not matched then insert values (1); end`,
    `select nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'`,
    'select pg_advisory_xact_lock(1), nextval($1), offset_of(1)',
  ];
  for (const body of bodies) assert.equal(new FunctionBody(body).mayChangeSession, false, body);
});

test('names in the code, but not in strings and comments', () => {
  const named = (body: string): boolean => new FunctionBody(body).names('sub');
  for (const body of [`select claims ->> 'sub'`, `select 1 -- sub, don't\n`, `select 'it''s sub'`]) assert.equal(named(body), false, body);
  const bodies = [
    'select sub()',
    `select 'x', "sub"()`,
    `select 'x' || sub() || 'y'`,
    `-- don't\n select sub(), 'x'`,
    `select E'\\'', sub(), '' `,
    `/* /* */ ' */ select sub(), ' '`,
    `select $$ ' $$, sub(), ' '`,
    'select $$ sub() $$',
  ];
  for (const body of bodies) assert.equal(named(body), true, body);
});

test('words that an immutable function must not use', () => {
  const readers = wordsOfReaders(['current_setting', 'now', 'concat', 'to_char']);
  assert.deepEqual(
    ['select Current_Setting($1)', 'select CURRENT_USER', 'execute x', 'select now()'].map((body) => new FunctionBody(body).uses(readers)),
    [true, true, true, true],
  );
  assert.deepEqual(
    [`select concat($1, to_char($2, 'YYYY'))`, 'select lower($1)', 'select known.current_settings'].map((body) =>
      new FunctionBody(body).uses(readers),
    ),
    [false, false, false],
  );
});
