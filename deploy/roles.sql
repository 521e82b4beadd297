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
    create role "authenticator" login noinherit;
  end if;
end $$;

grant anon, authenticated, service_role to authenticator;

-- This grants anon and authenticated only usage of the schemas: no table is accessible until you grant access to it.

-- Schema public: existing objects, and future ones created by the role that runs this.
-- (If another role creates the tables, add "for role <name>" after "alter default privileges".)
create schema if not exists public;
grant usage on schema public to anon, authenticated, service_role;
grant all on all tables in schema public to service_role;
alter default privileges in schema public grant all on tables to service_role;
grant all on all routines in schema public to service_role;
alter default privileges in schema public grant all on routines to service_role;
grant all on all sequences in schema public to service_role;
alter default privileges in schema public grant all on sequences to service_role;

-- Grant access table by table, each with its policies:
--   alter table <table> enable row level security;
--   create policy <name> on <table> for select using (<condition>);
--   grant select on <table> to anon, authenticated;

-- PostgreSQL lets everybody execute a new function. To change that for functions that this role creates in future:
--   alter default privileges revoke execute on routines from public;
