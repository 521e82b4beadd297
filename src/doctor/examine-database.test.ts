import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Doctor, linesOf, onlyOf, startDoctor } from '../../test/support/doctor.ts';
import { examineDatabase } from './examine-database.ts';

describe('examineDatabase', () => {
  let doctor: Doctor;

  before(async () => {
    doctor = await startDoctor();
  });
  after(() => doctor.close());

  it('warns of tables that the role can write without row level security', async () => {
    const findings = await doctor.examine(
      `create table note (id int primary key, text text, grade int); grant select, insert on note to public; grant update (grade) on note to anon;
       create table "Read Me" (id int primary key); grant select on "Read Me" to anon; create table closed (id int primary key);
       create table guarded (id int primary key); grant all on guarded to anon; alter table guarded enable row level security;
       create policy mine on guarded for select using (id = 1);
       create table kept (id int primary key); grant delete on kept to service_role;`,
    );
    assert.deepEqual(linesOf(findings, 'writable-without-rls', 'readable-without-rls'), [
      'writable-without-rls table s.note',
      'readable-without-rls table s.Read Me',
    ]);
    const { severity, message, remedy } = onlyOf(findings, 'writable-without-rls');
    assert.equal(severity, 'error');
    assert.match(message, /^anon can insert and update any row because row level security is off; /);
    assert.equal(remedy, 'alter table s.note enable row level security;');
    assert.equal(onlyOf(findings, 'readable-without-rls').remedy, 'alter table s."Read Me" enable row level security;');
  });

  it('names what reads a setting that nobody sets, in any schema', async () => {
    const uid = (extra: string): string => `select coalesce(nullif(current_setting('request.jwt.claim.sub', true), ''),
      nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')${extra}`;
    const findings = await doctor.examine(
      `create schema readers; alter role anon set "app.known" = 'x';
       create table note (id int primary key, owner text default current_setting('app.owner', true), tenant text);
       alter table note enable row level security; grant select on note to anon;
       create policy tenants on note using (tenant = current_setting('app.tenant', true) and id = current_setting('app.limit')::int);
       create policy shared on note using (tenant = current_setting('request.headers', true)::json ->> 'x-share'
         or owner = nullif(current_setting('request.headers', true), '')::json ->> 'Origin');
       create policy claims on note using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub'
         or owner = current_setting('jwt.claims.user_id', true) or owner = current_setting('request.header.x-share', true));
       create view roles as select current_setting('app.known') as known, current_setting('app.view', true) as other;
       create function readers.cookie() returns text language sql as $$ select current_setting('request.cookies') $$;
       create function readers.claim(name text) returns text language plpgsql as $$ begin return current_setting('jwt.claims.' || name); end $$;
       create function readers.enter(tenant text) returns text language sql as $$ select set_config('app.entered', tenant, true) $$;
       create function readers.entered() returns text language sql as $$ select current_setting('app.entered', true) $$;
       create function readers.scoped() returns text language sql set app.scope = 'x' as $$ select current_setting('app.scope') $$;
       create function readers.uid() returns text language sql as $$ ${uid('')} $$;
       create function readers.both() returns text language sql as $$ ${uid(" || current_setting('TimeZone') || current_setting('server_version')")} $$;`,
    );
    assert.deepEqual(
      findings.filter(({ code }) => code === 'unset-setting').map(({ object, name, message }) => `${object} ${name}: ${message}`),
      [
        'column s.note.owner: it reads app.owner, which nobody sets; read a claim from request.jwt.claims, or set it: alter role … set',
        'function readers.claim(text): it reads settings whose names begin with jwt.claims. and are put together; list them in requestSettings beside "auto"',
        'function readers.cookie(): it reads request.cookies, which nobody sets; read a claim from request.jwt.claims, or set it: alter role … set',
        'policy s.note.claims: it reads request.header.x-share, which nobody sets; read a claim from request.jwt.claims, or set it: alter role … set',
        'policy s.note.shared: it reads the header x-share, which requestHeaders does not list; add what it needs there',
        'policy s.note.tenants: it reads app.tenant and app.limit, which nobody sets; read a claim from request.jwt.claims, or set it: alter role … set',
        'view s.roles: it reads app.view, which nobody sets; read a claim from request.jwt.claims, or set it: alter role … set',
      ],
    );
    await doctor.run('drop table note; drop view roles; drop schema readers cascade; alter role anon reset "app.known"');
  });

  it('says which settings of requests are left out', async () => {
    await doctor.run(
      "create schema readers; create function readers.path() returns text language sql as $$ select current_setting('request.path') $$",
    );
    const report = async (requestSettings: readonly string[]) => {
      const { findings } = await examineDatabase(
        doctor.database,
        [],
        'anon',
        {},
        { extraSearchPath: [], requestSettings, requestHeaders: [] },
      );
      return findings.filter(({ code }) => code === 'unset-setting').map(({ message }) => message);
    };
    assert.deepEqual(await report([]), ['it reads request.path, which requestSettings leaves out; add "auto" there']);
    assert.deepEqual([await report(['auto']), await report(['request.path'])], [[], []]);
    await doctor.run('drop schema readers cascade');
  });

  it('reports relations that filters and orders leave out because a column has their name', async () => {
    const findings = await doctor.examine(
      `create table owner (id int primary key); create table pet (id int primary key, owner int, "ownerId" int references owner);
       grant select on owner, pet to anon;`,
    );
    assert.deepEqual(linesOf(findings, 'addition-gave-way'), ['addition-gave-way table s.pet']);
    assert.match(
      onlyOf(findings, 'addition-gave-way').message,
      /^filters and orders have no member for the relation owner, because a column or an operator already has that name; /,
    );
  });

  it('says where each of several names is missing', async () => {
    const findings = await doctor.examine(
      `create table owner (id int primary key); create table pet (id int primary key, owner int, near json, "ownerId" int references owner);
       create function near(p pet) returns setof owner stable language sql as 'select * from owner'; grant select, insert on owner, pet to anon;`,
    );
    assert.match(
      onlyOf(findings, 'addition-gave-way').message,
      /^filters, orders and nested writes have no member for the relation owner, and filters and orders have no member for the computed field near, because columns or operators already have those names; /,
    );
  });

  it('says that every collection has an argument of a name', async () => {
    const findings = await doctor.examine(
      `create table pet (id int primary key); grant select on pet to anon;
       create function pets(filter text) returns setof pet stable language sql as 'select * from pet';`,
    );
    assert.match(
      onlyOf(findings, 'name-changed').message,
      /^the name "filter" is taken by an argument that every collection has, so it is called "filterArgument"; /,
    );
  });

  it('reports names of groups that a table already uses', async () => {
    const findings = await doctor.examine(
      `create table item (id int primary key, bucket int, fraction int); create table "GroupByTime" (id int primary key); create type "GroupByDate" as enum ('a');
       comment on table item is '@graphql({"aggregate": {"enabled": true}})';
       grant select on item, "GroupByTime" to anon;`,
    );
    assert.deepEqual(linesOf(findings, 'addition-gave-way'), [
      'addition-gave-way enum s.GroupByDate',
      'addition-gave-way table s.GroupByTime',
      'addition-gave-way table s.item',
      'addition-gave-way table s.item',
    ]);
  });

  it('reports inferred keys of views, with the equivalent directive, and why others cannot be inferred', async () => {
    const findings = await doctor.examine(
      `create table author (id int primary key); create table book (id int primary key, author_id int references author);
       create view shown as select id, author_id from book; create view several as select a.id from author a join book b on b.author_id = a.id;
       create view named as select id, author_id from book;
       comment on view named is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [], "description": "x"})'; grant select on author, book, shown, several, named to anon;`,
    );
    assert.deepEqual(linesOf(findings, 'inferred-key', 'no-key'), ['no-key view s.several', 'inferred-key view s.shown']);
    assert.match(
      onlyOf(findings, 'no-key').message,
      /none can be inferred, because it may have several rows for one of a: those of b; declare/,
    );
    const { message } = onlyOf(findings, 'inferred-key');
    assert.match(
      message,
      /^inferred from its definition: its key is id; author_id refers to s\.author; id refers to s\.book; a comment directive overrides it, such as /,
    );
    await doctor.run(`comment on view shown is '@graphql(${message.slice(message.indexOf('{'))})'`);
  });

  it('makes a unique index over columns that are never null the primary key of a table without one', async () => {
    const findings = await doctor.examine(
      `create table "_CategoryToPost" ("A" int not null, "B" int not null); create unique index "AB_unique" on "_CategoryToPost" ("A", "B");
       comment on table "_CategoryToPost" is 'Which posts a category has';
       create table nullable (id int unique); create table later (id int not null unique deferrable); create table partly (id int not null);
       create unique index on partly (id) where id > 0; create unique index on partly ((id + 1)); grant select on "_CategoryToPost", nullable, later, partly to anon;`,
    );
    const remedies = findings.flatMap(({ code, name, remedy }) => (code === 'no-key' ? [`${name}: ${remedy}`] : []));
    const key = 's."_CategoryToPost" add primary key ("A", "B");';
    assert.deepEqual(remedies, [`s._CategoryToPost: alter table ${key}`, 's.later: null', 's.nullable: null', 's.partly: null']);
    assert.match(
      findings.find(({ remedy }) => remedy !== null)!.message,
      /, or declare its key columns with the comment directive \{"primary_key_columns": \["A", "B"\]\}$/,
    );
    await doctor.run(`alter table ${key.slice(2)}`);
  });

  it('warns of keys that do not hold for the tables that inherit from the table', async () => {
    const findings = await doctor.examine(
      `create table city (id int primary key); create table capital () inherits (city); create table log (at date); create table old_log () inherits (log);
       create table sale (id int primary key) partition by range (id); create table sale_1 partition of sale for values from (1) to (9);
       create table closed (id int primary key); create table closed_child () inherits (closed); grant select on city, log, sale to anon;`,
    );
    assert.deepEqual(linesOf(findings, 'key-not-inherited'), ['key-not-inherited table s.city']);
    const { severity, message, remedy } = onlyOf(findings, 'key-not-inherited');
    assert.deepEqual([severity, remedy], ['warning', null]);
    assert.match(message, /several of its rows may have one nodeId: .* \(select \.\.\. from only s\.city\) instead$/);
  });

  it('can only suggest revoking privileges on a foreign table', async () => {
    const findings = await doctor.examine(
      `create foreign data wrapper nowhere; create server nowhere foreign data wrapper nowhere; create foreign table far (id int) server nowhere;
       create role writers; grant writers to anon; grant select, insert on far to writers;`,
    );
    // The role anon does not inherit the privileges of its memberships.
    assert.deepEqual(linesOf(findings, 'writable-without-rls'), []);
    const direct = await doctor.examine('create foreign table far (id int) server nowhere; grant insert, update on far to anon, public;');
    assert.equal(onlyOf(direct, 'writable-without-rls').remedy, 'revoke insert, update on table s.far from anon, public;');
  });

  it('warns of row level security that does not work as intended', async () => {
    const findings = await doctor.examine(
      `create table forgotten (id int primary key); create policy p on forgotten using (id = 1);
       create table empty (id int primary key); alter table empty enable row level security; grant select, delete on empty to anon;
       create policy others on empty to service_role using (true); create policy strict on empty as restrictive to anon using (true);
       create table owned (id int primary key); alter table owned enable row level security; create policy p on owned for select using (id = 1);
       alter table owned owner to anon; create table forced (id int primary key); alter table forced enable row level security;
       alter table forced force row level security; create policy p on forced using (id = 1); alter table forced owner to anon;`,
    );
    assert.deepEqual(linesOf(findings, 'policies-without-rls', 'owner-bypasses-rls', 'no-policy', 'readable-without-rls'), [
      'owner-bypasses-rls table s.owned',
      'policies-without-rls table s.forgotten',
      'no-policy table s.empty',
    ]);
    assert.equal(onlyOf(findings, 'owner-bypasses-rls').remedy, 'alter table s.owned force row level security;');
    assert.equal(onlyOf(findings, 'policies-without-rls').remedy, 'alter table s.forgotten enable row level security;');
    assert.match(onlyOf(findings, 'no-policy').message, /no policy lets anon select or delete any row/);
  });

  it('warns of policies that allow every write, and of those that call a function for each row', async () => {
    const policies = await doctor.examine(
      `create table book (id int primary key, owner text); alter table book enable row level security; grant all on book to anon;
       create policy "Reads all" on book for select using (true); create policy writes_all on book for update using (true);
       create policy adds on book for insert with check (true); create policy removes_own on book for delete using (owner = current_setting('a'));
       create policy adds_some on book as restrictive for insert with check (owner <> 'x');
       create policy by_select on book for delete using (owner = (select current_setting('a')));
       create policy everything on book using (true) with check (owner = current_setting('a'));`,
    );
    assert.deepEqual(linesOf(policies, 'open-policy', 'policy-calls-per-row', 'no-policy'), [
      'open-policy policy s.book.everything',
      'open-policy policy s.book.writes_all',
      'policy-calls-per-row policy s.book.everything',
      'policy-calls-per-row policy s.book.removes_own',
    ]);
    const messages = policies.filter(({ code }) => code === 'open-policy').map(({ message }) => message.split(';')[0]);
    assert.deepEqual(messages, ['it lets anon update and delete any row', 'it lets anon update any row']);
    for (const { code, remedy } of policies)
      if (code === 'policy-calls-per-row') await doctor.run((remedy ?? '').replaceAll('s.book', 'book'));
  });

  it('warns of views that show what row level security hides, directly or through other views', async () => {
    const views = ['direct', 'invoking', 'harmless', 'outer_view', 'through_invoking', 'filled', 'over_filled', 'weak', 'of_forced'];
    const findings = await doctor.examine(
      `create role reader; create table secret (id int primary key); insert into secret values (1); alter table secret enable row level security;
       create table nothing (id int primary key); create table forced (id int primary key); insert into forced values (1);
       alter table forced enable row level security; alter table forced force row level security; alter table forced owner to reader;
       create view direct as select secret.* from secret left join nothing using (id);
       create view invoking with (security_invoker = on) as select * from secret; create view harmless as select * from nothing;
       create view inner_view as select id from secret; create view outer_view with (security_invoker) as select * from inner_view;
       create view through_invoking as select * from invoking; create materialized view filled as select * from invoking;
       create view over_filled as select * from filled; create view weak as select * from secret; alter view weak owner to reader;
       create view of_forced as select * from forced; alter view of_forced owner to reader; create view unused as select * from secret;
       grant select on secret, inner_view to anon, reader; grant select on ${views.join(', ')} to anon;`,
    );
    const remedies = findings.flatMap(({ code, object, name, remedy }) =>
      code === 'view-bypasses-rls' ? [`${object} ${name}: ${remedy}`] : [],
    );
    assert.deepEqual(remedies, [
      'materialized view s.filled: revoke all on table s.filled from anon;',
      'view s.direct: alter view s.direct set (security_invoker = true);',
      'view s.inner_view: alter view s.inner_view set (security_invoker = true);',
      'view s.outer_view: alter view s.inner_view set (security_invoker = true);',
      'view s.over_filled: revoke all on table s.over_filled from anon;',
    ]);
    const shown: string[] = [];
    await doctor.run('set role anon');
    for (const view of [...views, 'inner_view']) {
      const rows = await doctor.run(`select from ${view}`);
      if (rows.length > 0) shown.push(`s.${view}`);
    }
    await doctor.run('reset role');
    assert.deepEqual(shown.sort(), findings.flatMap(({ code, name }) => (code === 'view-bypasses-rls' ? [name] : [])).sort());
  });

  it('warns of functions that run with the privileges of their owner', async () => {
    const findings = await doctor.examine(
      `create function risky(a int, "B" text default '') returns int security definer language sql as 'select 1';
       create function fixed() returns int security definer set search_path = '' language sql as 'select 1';
       create function parsed() returns int security definer language sql return 1;
       create function closed() returns int security definer language sql as 'select 1'; revoke execute on function closed from public;
       create function fired() returns trigger security definer language plpgsql as 'begin return new; end';
       create function own() returns int language sql as 'select 1'; grant execute on function fixed to anon;`,
    );
    assert.deepEqual(linesOf(findings, 'definer-search-path', 'open-definer-function'), [
      'definer-search-path function s.risky(integer, text)',
      'open-definer-function function s.fixed()',
      'open-definer-function function s.parsed()',
      'open-definer-function function s.risky(integer, text)',
    ]);
    assert.equal(onlyOf(findings, 'definer-search-path').remedy, 'alter function s.risky(integer, text) set search_path = s, pg_temp;');
    const fixed = findings.find(({ code, name }) => code === 'open-definer-function' && name === 's.fixed()');
    assert.equal(fixed?.remedy, 'revoke execute on function s.fixed() from anon, public;');
    assert.match(fixed?.message ?? '', /with the privileges of postgres, who bypasses row level security/);
  });

  it('reports immutable functions that may read claims, if something exposed uses them', async () => {
    const claims = `current_setting('request.jwt.claims', true)::json`;
    const findings = await doctor.examine(`
      create function has_role(role text) returns boolean language sql immutable as $$ select ${claims} ->> 'app_role' = role $$;
      create function is_admin() returns boolean language plpgsql stable as $$ begin return has_role('admin'); end $$;
      create schema unexposed; create function unexposed.reads() returns text language sql immutable as $$ select ${claims}::text $$;
      create function whole(first text, last text) returns text language sql immutable as $$ select concat_ws(' ', initcap(first), last) $$;
      create table note (id int primary key); alter table note enable row level security;
      create policy admins on note using (is_admin());
      create table person (id int primary key, first text, last text default whole('a', 'b'));`);
    const found = onlyOf(findings, 'immutable-reads-claims');
    assert.equal(found.severity, 'error');
    assert.match(found.name, /^s\.has_role\(role text\)$/);
    assert.match(found.message, /used by s\.note/);
    assert.equal(found.remedy, 'alter function s.has_role(role text) stable;');
  });

  it('reports fields that always fail', async () => {
    const findings = await doctor.examine(
      `create procedure act(a int) language sql as ''; create function many(variadic a int[]) returns int stable language sql as 'select 1';`,
    );
    assert.deepEqual(linesOf(findings, 'call-fails'), ['call-fails function s.act(integer)']);
  });

  it('reports keys that the role cannot select, and columns that it can only write', async () => {
    const findings = await doctor.examine(
      `create table pair (a int, b int, label text, secret text, primary key (a, b)); create table note (id int primary key, text text);
       grant select (label), insert (label, secret), update (secret) on pair to anon; grant select (text), insert (text, id) on note to anon;`,
    );
    assert.deepEqual(
      findings.flatMap(({ code, name, message, remedy }) =>
        ['key-not-selectable', 'write-only-column'].includes(code) ? [`${name}: ${message.split(';')[0]}; ${remedy}`] : [],
      ),
      [
        's.note: anon cannot select its key column id, so every query for its rows fails; grant select (id) on table s.note to anon;',
        's.pair: anon cannot select its key columns a and b, so every query for its rows fails; grant select (a, b) on table s.pair to anon;',
        's.note.id: anon can insert but not select it, so it is missing from rows and filters; grant select (id) on table s.note to anon;',
        's.pair.secret: anon can insert and update but not select it, so it is missing from rows and filters; grant select (secret) on table s.pair to anon;',
      ],
    );
  });

  it('reports a table and its partitions once', async () => {
    const findings = await doctor.examine(
      `create table sale (id int, year int, "no good" int, primary key (id, year)) partition by list (year);
       create table sale_1 partition of sale for values in (1); create table sale_2 partition of sale for values in (2) partition by list (id);
       create table sale_3 partition of sale_2 for values in (3); create table alone (id int primary key, "no good" int);
       grant select, insert on sale, sale_1, sale_3, alone to anon;`,
    );
    assert.deepEqual(
      findings.map(({ code, name, partitions = [] }) => [code, name, ...partitions].join(', ')),
      [
        'writable-without-rls, s.sale, table s.sale_1, table s.sale_3',
        'writable-without-rls, s.alone',
        'name-changed, s.alone.no good',
        'name-changed, s.sale.no good, column s.sale_1.no good, column s.sale_3.no good',
        'not-granted, s.sale_2',
      ],
    );
    assert.match(findings[0]?.remedy ?? '', /^alter table s\.sale .*;\nalter table s\.sale_1 .*;\nalter table s\.sale_3 .*;$/);
  });

  it('finds foreign keys without an index', async () => {
    const findings = await doctor.examine(
      `create table up (a int, b int, "C" int unique, primary key (a, b));
       create table down (id int primary key, a int, b int, "C" int references up ("C"), d int references up ("C"), e int references up ("C"), f int references up ("C"),
         foreign key (a, b) references up); create index on down (b, a, id); create index on down (d) where d is not null; create index on down (e) where e > 1;
       create index on down (id, f); create table parts (id int references up ("C")) partition by list (id); create table part partition of parts for values in (1);`,
    );
    assert.deepEqual(linesOf(findings, 'unindexed-foreign-key'), [
      'unindexed-foreign-key relation s.down.down_C_fkey',
      'unindexed-foreign-key relation s.down.down_e_fkey',
      'unindexed-foreign-key relation s.down.down_f_fkey',
      'unindexed-foreign-key relation s.parts.parts_id_fkey',
    ]);
    const quoted = findings.find(({ name }) => name === 's.down.down_C_fkey');
    assert.equal(quoted?.remedy, 'create index on s.down ("C");');
  });

  it('warns of roles that bypass policies, and of roles that can create objects', async () => {
    const sql = 'create table note (id int primary key); grant all on note to service_role, anon;';
    assert.deepEqual(linesOf(await doctor.examine(sql, { role: 'postgres' }), 'role-bypasses-rls', 'writable-without-rls'), [
      'role-bypasses-rls role postgres',
    ]);
    assert.deepEqual(linesOf(await doctor.examine(sql, { role: 'service_role' }), 'role-bypasses-rls', 'writable-without-rls'), []);
    await doctor.run('create schema common; grant usage, create on schema common to public, anon');
    const schema = onlyOf(await doctor.examine('', { schemas: ['common'] }), 'may-create-objects');
    assert.deepEqual([schema.name, schema.remedy], ['common', 'revoke create on schema common from anon, public;']);
  });

  it('does not warn of what the role cannot reach', async () => {
    await doctor.run(`create schema apart; create table apart.note (id int primary key); grant all on apart.note to anon;
      create function apart.act() returns int security definer language sql as 'select 1'; create view apart.notes as select * from apart.note;
      grant all on apart.notes to anon; alter table apart.note enable row level security;`);
    const findings = await doctor.examine('', { schemas: ['apart'] });
    assert.deepEqual(
      findings.map(({ code, name }) => `${code} ${name}`),
      ['not-granted apart'],
    );
  });

  it('is deterministic, errors first', async () => {
    const sql = `create table b (id int); create table a (id int); grant all on a, b to anon; create function f() returns int security definer language sql as 'select 1';
      comment on table a is '@graphql({"name": x})';`;
    const findings = await doctor.examine(sql);
    assert.deepEqual(await doctor.examine(sql), findings);
    assert.deepEqual(
      findings.map(({ severity, code, name }) => `${severity} ${code} ${name}`),
      [
        'error definer-search-path s.f()',
        'error writable-without-rls s.a',
        'error writable-without-rls s.b',
        'warning broken-directive s.a',
        'warning no-key s.a',
        'warning no-key s.b',
        'warning open-definer-function s.f()',
      ],
    );
  });

  it('rejects a role that does not exist', async () => {
    await assert.rejects(doctor.examine('', { role: 'nobody' }), { code: 'UNAUTHENTICATED' });
  });
});
