/**
 * Functions that would carry one caller's values to the next, as users write them: labelled immutable although they read the claims, or
 * leaving settings, locks and tables on the connection. And a check that nobody sees anything of others through them.
 */
import assert from 'node:assert/strict';
import type { Rowgraph } from '../../src/index.ts';
import { RandomSource } from '../property/random-source.ts';

const claim = (name: string): string => `current_setting('request.jwt.claims', true)::json ->> '${name}'`;

/** Ways to read the claims in functions that are labelled immutable. Each has a table, which only the subject may see and write. */
const readers: Readonly<Record<string, string>> = {
  sql: `create function read_sql() returns text language sql immutable as $$ select ${claim('sub')} $$`,
  plpgsql: `create function read_plpgsql() returns text language plpgsql immutable as $$ begin return ${claim('sub')}; end $$`,
  parsed: `create function read_parsed() returns text language sql immutable return ${claim('sub')}`,
  nested: 'create function read_nested() returns text language sql immutable as $$ select read_plpgsql() $$',
  // Folded in the plan of the function's own statement, which PL/pgSQL keeps for the session.
  stable: 'create function read_stable() returns text language plpgsql stable as $$ begin return "Read Quoted"(); end $$',
  volatile: `create function read_volatile() returns text language plpgsql volatile as
    $$ declare found text; begin select read_sql() into found; return found; end $$`,
  operator: `create function read_operand(text) returns text language sql immutable as $$ select ${claim('sub')} $$;
    create operator ~~> (function = read_operand, rightarg = text);
    create function read_operator() returns text language plpgsql stable as $$ begin return ~~> 'x'; end $$`,
  quoted: `create function "my id"() returns text language sql stable as $$ select ${claim('sub')} $$;
    create function read_quoted() returns text language plpgsql immutable as $$ begin return "my id"(); end $$`,
  doubled: `create function "a""b"() returns text language sql immutable as $$ select ${claim('sub')} $$;
    create function read_doubled() returns text language plpgsql stable as $$ begin return "a""b"(); end $$`,
  unicode: `create function read_unicode() returns text language plpgsql stable as $$ begin return U&"read\\005fsql"(); end $$`,
  cut: `create function read_${'x'.repeat(58)}() returns text language sql immutable as $$ select ${claim('sub')} $$;
    create function read_cut() returns text language plpgsql stable as $$ begin return read_${'x'.repeat(70)}(); end $$`,
  cast: `create type wrapped as (sub text);
    create function to_wrapped(int) returns wrapped language sql immutable as $$ select row(${claim('sub')})::wrapped $$;
    create cast (int as wrapped) with function to_wrapped(int);
    create function read_cast() returns text language plpgsql stable as $$ begin return (1::wrapped).sub; end $$`,
  implied: `create type letter as enum ('a');
    create function same(letter, letter) returns boolean language sql immutable as $$ select ${claim('sub')} = 'subject 0' $$;
    create operator = (function = same, leftarg = letter, rightarg = letter);
    create function read_implied() returns text language plpgsql stable as $$ begin
      if 'a'::letter in ('a'::letter) then return 'subject 0'; end if; return ${claim('sub')}; end $$`,
  // What it reads, it names only at run time: a table with a policy that reads the claims.
  search: `create table searched (owner text); insert into searched select 'subject ' || n from generate_series(0, 6) n;
    alter table searched enable row level security;
    create policy own on searched using (owner = read_sql());
    create function read_search() returns text language plpgsql stable security invoker as
      $$ declare found text; begin execute format('select min(owner) from %I', 'sear' || 'ched') into found; return found; end $$`,
  dynamic: `create function read_dynamic() returns text language plpgsql immutable as
    $$ declare found text; begin execute 'select current_' || 'setting(''request.jwt.claims'')::json ->> ''sub''' into found; return found; end $$`,
};
const names = Object.keys(readers);

/** Ways to change the session: each is a mutation or a query without arguments that returns text. */
const leavers: readonly string[] = [
  `create function leave_sql() returns text language sql as $$ select set_config('app.tenant', 'theirs', false) $$`,
  `create function leave_set() returns text language plpgsql as $$ begin
    -- update comes before the command in this comment
    set app.tenant = 'theirs'; return 'theirs'; end $$`,
  `create function leave_dynamic() returns text language plpgsql as $$ begin execute 'set app.tenant = ''theirs'''; return 'theirs'; end $$`,
  'create function leave_nested() returns text language plpgsql as $$ begin return leave_sql(); end $$',
  `create function leave_stable() returns text language plpgsql stable as $$ begin
    return pg_catalog."set_config"('app.tenant', 'theirs', false); end $$`,
  `create function leave_read_only() returns text language sql as $$ select set_config('default_transaction_read_only', 'on', false) $$`,
  `create function leave_role() returns text language sql as $$ select set_config('role', 'service_role', false) $$`,
  `create function leave_lock() returns text language sql as $$ select pg_advisory_lock(17)::text $$`,
  `create function leave_lock_and_fail() returns text language plpgsql as $$ begin perform pg_advisory_lock(17); raise 'failed'; end $$`,
  `create function leave_table() returns text language plpgsql as $$ begin
    create temp table loot as select 'theirs' as text; return 'theirs'; end $$`,
  `create function leave_default(value text default set_config('app.tenant', 'theirs', false)) returns text language sql as 'select value'`,
  `create operator !!! (function = pg_try_advisory_lock, rightarg = bigint);
   create function leave_operator() returns text language sql as $$ select (!!! 17::bigint)::text $$`,
  `create aggregate gather(text, boolean) (sfunc = set_config, stype = text, initcond = 'app.tenant');
   create function leave_aggregate() returns text language sql as $$ select gather('theirs', false) $$`,
  `create table emptied (id int);
   create function leave_emptied() returns trigger language plpgsql as $$ begin perform set_config('app.tenant', 'theirs', false); return null; end $$;
   create trigger leave before truncate on emptied for each statement execute function leave_emptied();
   create function leave_truncate() returns text language sql as $$ truncate emptied; select 'theirs' $$`,
  `create function leave_cursor() returns text language plpgsql as $$ begin
    execute 'declare loot cursor with hold for select ''theirs'''; return 'theirs'; end $$`,
];
const leaverNames = leavers.map((sql) => /function (leave_(?!emptied)\w+)/.exec(sql)![1]!);

/** Ways to change the session without a call in the request: a trigger, a policy, a default, a view. */
const leavingTables = `
  create function leave_in_trigger() returns trigger language plpgsql as $$ begin perform set_config('app.tenant', 'theirs', false); return new; end $$;
  create table triggered (id int generated always as identity primary key, text text);
  create trigger leave before insert on triggered for each row execute function leave_in_trigger();
  create table parent (id int generated always as identity primary key, text text);
  create table child (id int generated always as identity primary key, parent int references parent on delete cascade);
  create function leave_in_child() returns trigger language plpgsql as $$ begin perform set_config('app.tenant', 'theirs', false); return old; end $$;
  create trigger leave before delete on child for each row execute function leave_in_child();
  insert into parent (text) select 'x' from generate_series(1, 400);
  insert into child (parent) select id from parent;
  create table defaulted (id int generated always as identity primary key, text text default set_config('app.tenant', 'theirs', false), other int);
  create domain kept as text default set_config('app.tenant', 'theirs', false);
  create table in_kept (id int generated always as identity primary key, text kept, other int);
  create table guarded (id int primary key);
  insert into guarded values (1);
  alter table guarded enable row level security;
  create policy leave on guarded using (set_config('app.tenant', 'theirs', false) is not null);
  create view leaving as select 1 as id, set_config('app.tenant', 'theirs', false) as text;
  comment on view leaving is '@graphql({"primary_key_columns": ["id"]})';`;

const leavingRequests: readonly string[] = [
  ...leaverNames.map((name) => (name === 'leave_stable' ? `{ ${name} }` : `mutation { ${name} }`)),
  'mutation { insertIntotriggeredCollection(objects: [{text: "x"}]) { affectedCount } }',
  'mutation { deleteFromparentCollection(atMost: 1000, filter: {id: {eq: $id}}) { affectedCount } }',
  'mutation { insertIntodefaultedCollection(objects: [{other: 1}]) { affectedCount } }',
  'mutation { insertIntoin_keptCollection(objects: [{other: 1}]) { affectedCount } }',
  '{ guardedCollection { edges { node { id } } } }',
  '{ leavingCollection { edges { node { text } } } }',
];

export const leakySql = `
  create function "Read Quoted"() returns text language sql immutable as $$ select ${claim('sub')} $$;
  ${Object.values(readers).join(';\n')};
  ${names
    .map(
      (name) => `create table own_${name} (id int generated always as identity primary key, owner text default read_${name}(), note text);
        alter table own_${name} enable row level security;
        create policy own on own_${name} using (owner = read_${name}()) with check (owner = read_${name}());
        insert into own_${name} (owner) select 'subject ' || n % 7 from generate_series(0, 69) n;
        create function computed(own_${name}) returns text language sql stable as $$ select read_${name}() $$;
        create view seen_${name} as select id, owner, read_${name}() as reader from own_${name} where owner = read_${name}();
        comment on view seen_${name} is '@graphql({"primary_key_columns": ["id"]})';`,
    )
    .join('\n')}
  create table stamped (id int generated always as identity primary key, owner text, note text);
  create function stamp() returns trigger language plpgsql as $$ begin new.owner := read_sql(); return new; end $$;
  create trigger stamp before insert on stamped for each row execute function stamp();
  create domain owner as text default read_sql();
  create table in_domain (id int generated always as identity primary key, owner owner, note text);
  ${leavers.join(';\n')};
  ${leavingTables}
  create table loot_check (id int primary key);
  create function inspect() returns json language plpgsql stable as $$
    begin return json_build_object(
      'tenant', coalesce(current_setting('app.tenant', true), ''), 'readOnly', current_setting('default_transaction_read_only'),
      'role', current_user, 'tables', (select count(*) from pg_class where relname = 'loot'), 'cursors', (select count(*) from pg_cursors where is_holdable),
      'locks', (select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory')); end $$;`;

const clean = { tenant: '', readOnly: 'off', tables: 0, cursors: 0, locks: 0 };

/**
 * Sends requests of many subjects, several at a time; each must see its own rows only, store its own name, and find a clean connection.
 * `isPooled`: whether a pooler hands out the connections. Then a failed request cannot release its locks.
 */
export async function checkCallers(graph: Rowgraph, seed: number, isPooled = false): Promise<void> {
  const random = new RandomSource(seed);
  let turn = 0;
  const ask = async (query: string, subject: string, role = 'authenticated'): Promise<Record<string, unknown>> => {
    const { data, errors } = await graph.execute({ query }, { role, claims: { sub: subject } });
    assert.equal(errors, undefined, `${query}: ${JSON.stringify(errors)}`);
    return data as Record<string, unknown>;
  };
  const checkReads = async (name: string, subject: string): Promise<void> => {
    const root = name === 'volatile' ? '' : `reader: read_${name}`;
    const data = await ask(
      `{ ${root} rows: own_${name}Collection { edges { node { owner computed } } } seen: seen_${name}Collection { edges { node { owner reader } } } }`,
      subject,
    );
    if (root !== '') assert.equal(data.reader, subject, name);
    for (const [field, other] of [
      ['rows', 'computed'],
      ['seen', 'reader'],
    ] as const) {
      const { edges } = data[field] as { edges: { node: Record<string, string> }[] };
      assert.ok(edges.length >= 10, `${name}: ${edges.length} ${field}`);
      for (const { node } of edges) assert.deepEqual([node.owner, node[other]], [subject, subject], `${name}: ${field}`);
    }
  };
  const checkWrites = async (name: string, subject: string): Promise<void> => {
    const inserted = await ask(`mutation { into: insertInto${name}Collection(objects: [{note: "x"}]) { records { owner } } }`, subject);
    assert.deepEqual(inserted.into, { records: [{ owner: subject }] }, name);
    if (!name.startsWith('own_')) return;
    const changed = await ask(`mutation { update${name}Collection(set: {note: "y"}, atMost: 100000) { records { owner } } }`, subject);
    const { records } = changed[`update${name}Collection`] as { records: { owner: string }[] };
    assert.deepEqual([...new Set(records.map(({ owner }) => owner))], [subject], name);
  };
  const leave = async (request: string): Promise<void> => {
    const query = request.replace('$id', String(++turn));
    const { errors } = await graph.execute(
      { query },
      { role: random.pick(['authenticated', 'anon', 'service_role']), claims: { sub: 'leaver' } },
    );
    const expected = query.includes('leave_lock_and_fail') ? 'RAISED' : undefined;
    assert.equal(errors?.[0]?.extensions.code, expected, `${query}: ${JSON.stringify(errors)}`);
  };
  const writable = [...names.map((name) => `own_${name}`), 'stamped', 'in_domain'];
  for (let round = 0; round < 12; round++) {
    const work = [
      ...names.map((name) => () => checkReads(name, `subject ${random.integer(0, 6)}`)),
      ...writable.map((name) => () => checkWrites(name, `subject ${random.integer(0, 6)}`)),
      ...leavingRequests.filter((request) => !isPooled || !request.includes('and_fail')).map((request) => () => leave(request)),
    ];
    for (const step of random.sample(work, 12)) {
      await step();
      const { inspect } = (await ask('{ inspect }', 'nobody', 'anon')) as { inspect: string };
      assert.deepEqual(JSON.parse(inspect), { ...clean, role: 'anon' });
    }
    await Promise.all(names.flatMap((name) => [0, 1, 2].map((index) => checkReads(name, `subject ${(index + round) % 7}`))));
  }
}
