-- Creates the number of tables in the setting bench.tables, each with 12 columns and 2 foreign keys, open to three roles, and to a fourth
-- that may only read.
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role reader nologin noinherit;
create role authenticator login noinherit;
grant anon, authenticated, service_role, reader to authenticator;

do $$
begin
  for number in 1..current_setting('bench.tables')::int loop
    execute format(
      'create table thing_%s (
        id int primary key, parent_id int, origin_id int, name text not null, note text, size int not null, price numeric,
        made_at timestamptz not null default now(), is_open boolean not null default true, extra jsonb, code uuid, day date
      )', number);
    if number > 2 then
      execute format(
        'alter table thing_%s add foreign key (parent_id) references thing_%s, add foreign key (origin_id) references thing_%s',
        number, number - 1, number - 2);
    end if;
  end loop;
end $$;

insert into thing_1 (id, name, size) select number, 'thing ' || number, number from generate_series(1, 1000) number;
comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
grant usage on schema public to anon, authenticated, service_role, reader;
grant all on all tables in schema public to anon, authenticated, service_role;
grant select on all tables in schema public to reader;
