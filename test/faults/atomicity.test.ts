/** What goes wrong in one mutation field, or when all of them commit, undoes the whole request; the response says what it was. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import type { Caller } from '../../src/engine/request.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

const setup = `
  create table entry (id int primary key, amount int constraint amount_is_positive check (amount > 0), label varchar(5) not null default 'x',
    code text constraint code_is_unique unique, parent int constraint parent_exists references entry deferrable initially deferred);
  insert into entry values (1, 1, 'one', 'first'), (2, 2, 'two', 'second');
  create table log (note text);
  create function raise(state text, message text) returns text volatile language plpgsql as $$ begin
    raise exception using errcode = state, message = message, detail = 'the detail', hint = 'the hint'; end $$;
  create function write_log(note text) returns text volatile language sql as $$ insert into log values (note) returning note $$;
  create function divide(a int, b int) returns int volatile language sql as $$ select a / b $$;
  create function forbidden() returns int volatile language sql security invoker as $$ select 1 from pg_authid limit 1 $$;
  create function refuse() returns trigger language plpgsql as $$ begin if new.amount = 13 then raise exception 'unlucky'; end if; return new; end $$;
  create trigger refuses before insert or update on entry for each row execute function refuse();
  create function late() returns trigger language plpgsql as $$ begin if new.amount = 14 then raise exception 'too late'; end if; return null; end $$;
  create constraint trigger late after insert on entry deferrable initially deferred for each row execute function late();
  grant execute on function raise, write_log, divide, forbidden to anon;
`;

/** A field that fails, and what the client is told. */
interface Failure {
  readonly field: string;
  readonly code: string;
  readonly sqlstate?: string;
  readonly constraint?: string;
  readonly table?: string;
  readonly column?: string;
  readonly input?: string;
  readonly message: RegExp;
}

const insert = (values: string): string => `insertIntoentryCollection(objects: [${values}]) { affectedCount }`;
const failures: Record<string, Failure> = {
  'a primary key': {
    field: insert('{id: 1}'),
    code: 'CONSTRAINT_VIOLATION',
    sqlstate: '23505',
    constraint: 'entry_pkey',
    table: 'entry',
    input: 'objects[0]',
    message: /duplicate key value/,
  },
  'a unique constraint': {
    field: insert('{id: 9, code: "first"}'),
    code: 'CONSTRAINT_VIOLATION',
    sqlstate: '23505',
    constraint: 'code_is_unique',
    table: 'entry',
    input: 'objects[0]',
    message: /duplicate/,
  },
  'the second of two rows': {
    field: insert('{id: 8, amount: 5}, {id: 9, amount: -1}'),
    code: 'CONSTRAINT_VIOLATION',
    sqlstate: '23514',
    constraint: 'amount_is_positive',
    table: 'entry',
    input: 'objects',
    message: /amount_is_positive/,
  },
  'a check': {
    field: 'updateentryCollection(set: {amount: 0}, filter: {id: {eq: 1}}) { affectedCount }',
    code: 'CONSTRAINT_VIOLATION',
    sqlstate: '23514',
    constraint: 'amount_is_positive',
    table: 'entry',
    input: 'set',
    message: /check constraint/,
  },
  'not null': {
    field: insert('{id: 9, label: null}'),
    code: 'CONSTRAINT_VIOLATION',
    sqlstate: '23502',
    table: 'entry',
    column: 'label',
    input: 'objects[0].label',
    message: /null value in column "label"/,
  },
  'a foreign key at commit': {
    field: insert('{id: 9, parent: 99}'),
    code: 'CONSTRAINT_VIOLATION',
    sqlstate: '23503',
    constraint: 'parent_exists',
    table: 'entry',
    message: /parent_exists/,
  },
  'a trigger at commit': { field: insert('{id: 9, amount: 14}'), code: 'RAISED', sqlstate: 'P0001', message: /^too late$/ },
  'a trigger': { field: insert('{id: 9, amount: 13}'), code: 'RAISED', sqlstate: 'P0001', message: /^unlucky$/ },
  'too many rows': {
    field: 'deleteFromentryCollection { affectedCount }',
    code: 'TOO_MANY_ROWS',
    message: /^delete impacts too many records$/,
  },
  'too many rows to update': {
    field: 'updateentryCollection(set: {amount: 5}) { affectedCount }',
    code: 'TOO_MANY_ROWS',
    message: /^update impacts too many records$/,
  },
  'a number': { field: 'divide(a: 1, b: 0)', code: 'INVALID_VALUE', sqlstate: '22012', message: /division by zero/ },
  'a right': { field: 'forbidden', code: 'PERMISSION_DENIED', sqlstate: '42501', message: /permission denied for table pg_authid/ },
  'an exception': { field: 'raise(state: "P0001", message: "no")', code: 'RAISED', sqlstate: 'P0001', message: /^no$/ },
  'an exception of its own state': { field: 'raise(state: "X1234", message: "no")', code: 'RAISED', sqlstate: 'X1234', message: /^no$/ },
};

interface Tested {
  graph: Rowgraph;
  run(sql: string): Promise<unknown>;
}

let databases: TestDatabases;
let database: TestDatabase;
let pglite: PGlite;
const tested = {} as Record<'PostgreSQL' | 'PGlite', Tested>;
const caller: Caller = { role: 'anon' };

before(async () => {
  [databases, pglite] = await Promise.all([startTestDatabases(), startPglite()]);
  database = await databases.create(setup);
  await pglite.exec(rolesSql + grantsSql + setup);
  tested.PostgreSQL = { graph: await createRowgraph({ database: database.url }), run: database.run };
  tested.PGlite = { graph: await createRowgraph({ database: pglite }), run: async (sql) => (await pglite.query(sql)).rows };
});
after(async () => {
  await tested.PostgreSQL.graph.close();
  await tested.PGlite.graph.close();
  await pglite.close();
  await databases.close();
});

const state = 'select (select json_agg(e order by id) from entry e)::text as entries, (select count(*)::int from log) as notes';

/** The failing field at each place among fields that work. */
async function assertUndone({ graph, run }: Tested, { field, message, ...expected }: Failure): Promise<void> {
  const before = await run(state);
  const good = [
    `a: ${insert('{id: 5, amount: 5}')}`,
    'b: write_log(note: "b")',
    'c: updateentryCollection(set: {label: "new"}, filter: {id: {eq: 2}}) { affectedCount }',
  ];
  for (let place = 0; place <= good.length; place++) {
    const fields = good.toSpliced(place, 0, `bad: ${field}`);
    const { data, errors } = await graph.execute({ query: `mutation { ${fields.join(' ')} }` }, caller);
    assert.equal(data ?? null, null);
    assert.equal(errors?.length, 1);
    const { detail, hint, ...extensions } = errors[0]!.extensions;
    assert.deepEqual(extensions, expected, fields.join(' '));
    assert.match(errors[0]!.message, message);
    assert.deepEqual(await run(state), before, `undone with the failure in place ${place}`);
  }
}

for (const name of ['PostgreSQL', 'PGlite'] as const) {
  describe(name, () => {
    for (const [what, failure] of Object.entries(failures))
      test(`${what} that fails undoes all`, () => assertUndone(tested[name], failure));

    test('an exception tells its detail and its hint', async () => {
      const { errors } = await tested[name].graph.execute({ query: 'mutation { raise(state: "P0002", message: "m") }' }, caller);
      assert.deepEqual(errors, [
        {
          message: 'm',
          locations: [{ line: 1, column: 12 }],
          path: ['raise'],
          extensions: { code: 'RAISED', sqlstate: 'P0002', detail: 'the detail', hint: 'the hint' },
        },
      ]);
    });

    test('all of it is there where nothing fails, a later field seeing the earlier', async () => {
      const query = `mutation { a: ${insert('{id: 20, parent: 21}')} b: ${insert('{id: 21, amount: 3}')}
        c: updateentryCollection(set: {amount: 4}, filter: {id: {in: [20, 21]}}, atMost: 2) { affectedCount }
        d: deleteFromentryCollection(filter: {amount: {eq: 4}}, atMost: 2) { records { id } } write_log(note: "kept") }`;
      assert.deepEqual(JSON.parse(JSON.stringify(await tested[name].graph.execute({ query }, caller))), {
        data: {
          a: { affectedCount: 1 },
          b: { affectedCount: 1 },
          c: { affectedCount: 2 },
          d: { records: [{ id: 20 }, { id: 21 }] },
          write_log: 'kept',
        },
      });
      assert.deepEqual(await tested[name].run('select note from log'), [{ note: 'kept' }]);
    });
  });
}
