import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Doctor, startDoctor } from '../../test/support/doctor.ts';
import { additionNames } from '../settings/additions.ts';

describe('reportDirectives', () => {
  let doctor: Doctor;

  before(async () => {
    doctor = await startDoctor();
  });
  after(() => doctor.close());

  it('reports objects with broken directives, and examines everything else', async () => {
    const findings = await doctor.examine(
      `create table note (id int primary key, text text, up int references note); create index on note (up); create type mood as enum ('calm'); create function act() returns int language sql as 'select 1';
       grant select on note to anon; alter table note enable row level security; create policy p on note for select using (id > 0);
       create view listed as select * from note; create table hidden (id int);
       do $$ begin execute format('comment on schema %I is %L', current_schema, '@graphql({"max_rows": "many"})'); end $$;
       comment on table note is '@graphql({"name": "Note"}) see (there)'; comment on column note.text is '@graphql({name: "x"})';
       comment on constraint note_up_fkey on note is '@graphql({"local_name": })'; comment on type mood is '@graphql({)'; comment on function act is '@graphql(x)';
       comment on view listed is '@graphql({"max_rows": 1.5})'; comment on column hidden.id is '@graphql({]})';`,
    );
    const broken = findings.flatMap(({ code, object, name, message }) =>
      code === 'broken-directive' ? [`${object} ${name}: ${message}`] : [],
    );
    assert.deepEqual(
      broken.map((line) => line.replace(/\((Unexpected|Expected|no parenthesis).*\)/, '(…)')),
      [
        'column s.hidden.id: its comment directive is not valid JSON and is ignored (…); correct the comment',
        'column s.note.text: its comment directive is not valid JSON and is ignored (…); correct the comment',
        'enum s.mood: its comment directive is not valid JSON and is ignored (…); correct the comment',
        'function s.act(): its comment directive is not valid JSON and is ignored (…); correct the comment',
        'relation s.note.note_up_fkey: its comment directive is not valid JSON and is ignored (…); correct the comment',
      ],
    );
    assert.deepEqual(
      findings.flatMap(({ code, name }) => (code === 'broken-directive' ? [] : [`${code} ${name}`])),
      ['ignored-directive s', 'ignored-directive s.listed', 'not-granted s.hidden', 'not-granted s.listed'],
    );
  });

  it('reports shapes of JSON columns that are none, with the place in them', async () => {
    const findings = await doctor.examine(
      `create type spot as (x int); grant usage on type spot to anon;
       create table note (id int primary key, a jsonb, b json, c jsonb, d jsonb, e jsonb, f jsonb, g text, h jsonb, i jsonb); grant select on note to anon;
       alter table note enable row level security; create policy p on note for select using (id > 0);
       comment on column note.a is '@graphql({"shape": {"type": "object", "properties": {"b": {"type": "array", "items": {"oneOf": []}}}}})';
       comment on column note.b is '@graphql({"shape": {"type": "object"}})'; comment on column note.c is '@graphql({"shape": "nowhere"})';
       comment on column note.d is '@graphql({"shape": {"type": "string"}})'; comment on column note.e is '@graphql({"shape": {"type": "object", "properties": {"x": {"type": "float"}}}})';
       comment on column note.f is '@graphql({"shape": true})'; comment on column note.g is '@graphql({"shape": "spot"})';
       comment on column note.h is '@graphql({"shape": "spot"})'; comment on column note.i is '@graphql({"shape": {"type": "object", "title": "a b", "properties": {"x": {}}}})';`,
    );
    const must =
      '"shape" of its comment directive is ignored; it must be the name of a composite type, or a JSON Schema of an object or an array of objects';
    assert.deepEqual(
      findings.map(({ name, message }) => [name, message.replace(must, '…')]),
      [
        ['s.note.a', '…; at properties.b.items: "oneOf" is not supported'],
        ['s.note.b', '…; "properties" is no object with members'],
        ['s.note.c', '…; there is no composite type nowhere'],
        ['s.note.d', '…'],
        ['s.note.e', '…; at properties.x: "type" is none of object, array, string, integer, number and boolean'],
        ['s.note.f', '…; a schema is an object'],
        ['s.note.g', '"shape" of its comment directive has no meaning here; supported: name, description'],
        ['s.note.i', '…; "title" is not a valid GraphQL name'],
      ],
    );
  });

  it('reports members of directives that have no effect', async () => {
    const findings = await doctor.examine(
      `create table note (id int primary key, text text); create type mood as enum ('calm'); grant select on note to anon;
       alter table note enable row level security; create policy p on note for select using (id > 0);
       do $$ begin execute format('comment on schema %I is %L', current_schema, '@graphql({"inflect_name": true, "introspection": "true", "max_rows": -1})'); end $$;
       comment on table note is '@graphql({"totalCount": true, "aggregate": {"enabled": false}, "primary_key_columns": "id", "foreign_keys": {}, "description": 5, "additions": true, "name": null})';
       comment on column note.id is '@graphql(["name"])'; comment on column note.text is '@graphql({"name": "t"} and so on';
       comment on type mood is '@graphql({"mappings": {"clam": "CALM"}})';`,
    );
    assert.deepEqual(
      findings.map(({ code, object, name, message }) => `${code} ${object} ${name}: ${message}`),
      [
        'broken-directive column s.note.text: its comment directive is not valid JSON and is ignored (no parenthesis closes it); correct the comment',
        'ignored-directive column s.note.id: its comment directive is not a JSON object and is ignored; write {"name": value}',
        'ignored-directive enum s.mood: "mappings" of its comment directive is ignored; it must be an object whose labels exist; "clam" does not',
        'ignored-directive schema s: "inflect_name" of its comment directive has no meaning here; supported: inflect_names, max_rows, max_depth, introspection, additions',
        'ignored-directive schema s: "introspection" of its comment directive is ignored; it must be true or false',
        'ignored-directive schema s: "max_rows" of its comment directive is ignored; it must be a whole number from 0 to 2147483647',
        'ignored-directive table s.note: "totalCount" of its comment directive is ignored; it must be {"enabled": true} or {"enabled": false}',
        'ignored-directive table s.note: "primary_key_columns" of its comment directive is ignored; it must be a list of column names',
        'ignored-directive table s.note: "foreign_keys" of its comment directive is ignored; it must be a list',
        'ignored-directive table s.note: "description" of its comment directive is ignored; it must be text',
        `ignored-directive table s.note: "additions" of its comment directive is ignored; it must be an object of true or false by the name of an addition (${additionNames.join(', ')})`,
      ],
    );
  });

  it('reports searches that are declared wrongly', async () => {
    const searches = {
      a: { columns: { titel: 'A' } },
      b: { columns: { title: 'A', views: 'B' } },
      c: { column: 'title' },
      d: { columns: ['title'], config: 'klingon' },
      e: { columns: { title: 'E' } },
      f: { columns: { title: 'A' }, confg: 'english' },
      g: { columns: {} },
      h: { config: 'english' },
      i: { column: 'words', columns: ['title'] },
      fine: { columns: { title: 'A' }, config: 'pg_catalog.english' },
    };
    const tables = Object.entries(searches).map(
      ([name, search]) => `create table ${name} (id int primary key, title text, views int); grant select on ${name} to anon;
        comment on table ${name} is '@graphql(${JSON.stringify({ search })})';`,
    );
    const vector = `create table vector (id int primary key, words tsvector); grant select on vector to anon;
      comment on table vector is '@graphql({"search": {"config": "german"}})';`;
    const findings = await doctor.examine([...tables, vector].join('\n'));
    const form =
      '{"columns": {"name of a column": "A"}, "config": "english"}, with weights from A to D, or {"column": "name of a tsvector"}';
    const expected = [
      'an object whose columns exist; "titel" does not',
      'an object whose "columns" are texts; "views" is not',
      'an object whose "column" is of type tsvector; "title" is not',
      'an object whose "config" exists; "klingon" does not',
      form,
      form,
      form,
      'an object with "columns", because the table has no column of type tsvector',
      form,
    ];
    assert.deepEqual(
      findings.flatMap(({ code, name, message }) =>
        code === 'ignored-directive' ? [`${name} ${message.replace(/ \(there are .*\)/, '')}`] : [],
      ),
      expected.map((each, index) => `s.${'abcdefghi'[index]} "search" of its comment directive is ignored; it must be ${each}`),
    );
    const list = findings.find(({ name, message }) => name === 's.d' && message.includes('klingon'))?.message;
    assert.match(list ?? '', /\(there are .*\bgerman\b.*\bsimple\b.*\)$/);
  });

  it('reports directives on what none is read from', async () => {
    const findings = await doctor.examine(
      `create table note (id int primary key, mail text unique); create index on note (lower(mail)); grant select on note to anon;
       alter table note enable row level security; create policy p on note for select using (id > 0);
       comment on constraint note_mail_key on note is '@graphql({"name": "noteByAddress"})'; comment on index note_lower_idx is '@graphql({})';
       comment on policy p on note is '@graphql({"name": "x"})'; comment on constraint note_pkey on note is 'The key.';`,
    );
    assert.deepEqual(
      findings.flatMap(({ code, object, name }) => (code === 'ignored-directive' ? [`${object} ${name}`] : [])),
      ['constraint s.note.note_mail_key', 'index s.note.note_lower_idx', 'policy s.note.p'],
    );
  });

  it('reports what has no effect on this object, and inside of members', async () => {
    const findings = await doctor.examine(
      `create table note (id int primary key, up int references note, text text); create index on note (up); create table other (id int primary key, note_id int references note);
       create index on other (note_id); grant select on note, other to anon; create domain ints as int[]; create domain mail as text; create table third (id int primary key, i ints, m mail);
       alter table note enable row level security; create policy p on note for select using (id > 0); alter table other enable row level security; create policy p on other for select using (id > 0);
       comment on table note is '@graphql({"max_depth": 5, "live": {"refresh": 5, "refersh": 1}, "totalCount": {"enabled": true, "exact": 1}, "foreign_keys": [{"local_columns": ["text"], "foreign_schema": "S", "foreign_table": "other", "foreign_columns": ["id"], "localname": "x", "local_name": {}}]})';
       comment on table other is '@graphql({"max_depth": 5, "primary_key_columns": ["id"]}) and @graphql({"name": "X"})';
       comment on column note.text is 'See @GraphQL({"name": "t"})'; comment on column note.id is 'Of the table @graphql.';
       comment on constraint note_up_fkey on note is '@graphql({"ancestors_name": "a a", "descendants_name": "2d"})';
       comment on constraint other_note_id_fkey on other is '@graphql({"ancestors_name": "x"})';
       create function one() returns int stable language sql as 'select 1'; comment on function one() is '@graphql({"max_rows": 4})';
       create function rows() returns setof note stable language sql as 'select * from note'; comment on function rows() is '@graphql({"max_rows": 4})';
       create function many() returns setof int stable language sql as 'select 1'; comment on function many() is '@graphql({"max_rows": 4})';
       create function act() returns int language sql as 'select 1'; comment on function act() is '@graphql({"live": {"refresh": 5}})';
       comment on domain ints is '@graphql({"name": "Ints"})'; comment on domain mail is '@graphql({"name": "Mail", "mappings": {}})';`,
    );
    const codes = ['broken-directive', 'ignored-directive', 'illegal-name'];
    assert.deepEqual(
      findings.flatMap(({ code, object, name, message }) =>
        codes.includes(code) ? [`${object} ${name}: ${message.replace('of its comment directive is ignored; it must be', '…')}`] : [],
      ),
      [
        'column s.note.text: its comment has what looks like a directive, but is none; write @graphql({"name": value})',
        'table s.other: its comment has several directives, of which only the first is read; write one with all members',
        'domain s.ints: "name" … left out, because only domains over scalars and enums have a type of their own',
        'domain s.mail: "mappings" of its comment directive has no meaning here; supported: name, description',
        'function s.act(): "live" … left out, because the function is volatile, and so a mutation',
        'function s.one(): "max_rows" … left out, because the function returns no set',
        'function s.rows(): "max_rows" … left out, because the function returns rows of a table, whose comment may have it',
        'relation s.other.other_note_id_fkey: "ancestors_name" … left out, because the key does not refer to its own table',
        'table s.note: "refersh" of "live" in its comment directive has no meaning here; supported: refresh',
        'table s.note: "exact" of "totalCount" in its comment directive has no meaning here; supported: enabled',
        'table s.note: "localname" of foreign_keys[0] in its comment directive has no meaning here; supported: local_name, foreign_name, ancestors_name, descendants_name, local_columns, foreign_schema, foreign_table, foreign_columns',
        'table s.note: "local_name" of foreign_keys[0] in its comment directive is ignored; it must be a name',
        'table s.other: "max_depth" … left out, because no key of the table refers to itself',
        'table s.other: "primary_key_columns" … left out, because the table has a primary key',
        'relation s.note.note_up_fkey: "a a" is not a valid GraphQL name for a field of s.note; choose another with {"ancestors_name": "..."} in the comment directive',
        'relation s.note.note_up_fkey: "2d" is not a valid GraphQL name for a field of s.note; choose another with {"descendants_name": "..."} in the comment directive',
      ],
    );
  });
});
