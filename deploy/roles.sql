-- The database roles of rowgraph, for PostgreSQL 14 to 18. Run this script as a superuser in the database to serve.
-- It is safe to run again: existing roles stay as they are, and no privilege is revoked.

-- anonymous callers
do $$ begin
  if not exists (select from pg_roles where rolname = 'anon') then
    create role anon nologin noinherit;
  end if;
end $$;

-- authenticated callers
do $$ begin
  if not exists (select from pg_roles where rolname = 'authenticated') then
    create role authenticated nologin noinherit;
  end if;
end $$;

-- your own programs: they bypass row level security
do $$ begin
  if not exists (select from pg_roles where rolname = 'service_role') then
    create role service_role nologin noinherit bypassrls;
  end if;
end $$;

-- the role that rowgraph logs in as; it has no privileges of its own
do $$ begin
  if not exists (select from pg_roles where rolname = 'authenticator') then
    create role "authenticator" login noinherit password 'CHANGE-ME';
  end if;
end $$;

grant anon, authenticated, service_role to authenticator;

-- WARNING: this grants anon and authenticated every privilege on all tables, present and future. This is the convention of Supabase, and
-- only row level security protects rows: in a table WITHOUT row level security, anybody with the anonymous key can read, change and delete
-- every row. Enable it on each table (alter table <table> enable row level security) and write policies.
-- "rowgraph roles --grants read" and "--grants none" grant less.

-- Schema public: existing objects, and future ones created by the role that runs this.
-- (If another role creates the tables, add "for role <name>" after "alter default privileges".)
create schema if not exists public;
grant usage on schema public to anon, authenticated, service_role;
grant all on all tables in schema public to anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
grant all on all routines in schema public to anon, authenticated, service_role;
alter default privileges in schema public grant all on routines to anon, authenticated, service_role;
grant all on all sequences in schema public to anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;

-- Lists the tables that are open now because they have no row level security.
do $$ declare open_table regclass; begin
  for open_table in
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public') and c.relkind in ('r', 'p') and not c.relrowsecurity order by 1
  loop
    raise warning 'table % has no row level security: its rows are open', open_table;
  end loop;
end $$;
