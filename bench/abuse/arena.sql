-- What the attacks of bench/abuse need besides the tables of test/abuse/worst-documents.ts: rows, a table of the victim's own, and harmful
-- functions.
insert into account select id, 'user' || id || '@example.org', 'User ' || id, id % 90, array[id % 7, id % 11], now() from generate_series(1, 2000) id;
insert into blog select id, id % 2000 + 1, 'Blog ' || id, repeat('words ', 20) from generate_series(1, 20000) id;
insert into post select id, id % 20000 + 1, 'Post ' || id, repeat('words ', 40) from generate_series(1, 60000) id;
insert into comment select id, id % 60000 + 1, id % 2000 + 1, 'Comment ' || id from generate_series(1, 120000) id;

create table diary_entry (
  id bigint generated always as identity primary key,
  owner text not null default (current_setting('request.jwt.claims', true)::json ->> 'sub'),
  body text not null
);
create index on diary_entry (owner, id);
alter table diary_entry enable row level security;
create policy own_entries on diary_entry using (owner = (select current_setting('request.jwt.claims', true)::json ->> 'sub'));

create table locked (id int primary key, body text);
insert into locked values (1, 'as ordinary as any');

create function slow(seconds float8) returns text stable language sql as 'select ''slept'' from pg_sleep(seconds)';
create function large(bytes int) returns text stable language sql as 'select repeat(''x'', bytes)';
create function burn(rounds int) returns bigint stable language sql as 'select sum(a * 2)::bigint from generate_series(1, rounds) a';
create function raise(message text) returns text stable language plpgsql as 'begin raise exception ''%'', message; end';
create function end_backend() returns text stable security definer language sql as 'select pg_terminate_backend(pg_backend_pid())::text';
analyze;
