/**
 * Version 1.1 of the extension, which adds its version, and idempotency keys of mutations with their responses. The SQL is in a module so
 * that bundlers include it. As plain SQL it can be run again. `docs/decisions/idempotency.md` explains why everybody may execute the
 * functions, and what they check.
 */
export const idempotencyKeyScript = `create or replace function rowgraph.version() returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$ select '1.1'::text $$;

create table if not exists rowgraph.idempotency_key (
  role text not null,
  caller bytea not null,
  key text not null,
  request bytea not null,
  response text,
  transaction xid8 not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (role, caller, key)
);
create index if not exists idempotency_key_expires_at on rowgraph.idempotency_key (expires_at);
comment on table rowgraph.idempotency_key is
  'A row for each mutation that was sent with an idempotency key: the hashes of its caller and its request, and its response. The server reads it by functions alone.';

-- Default privileges may have granted other roles access.
alter table rowgraph.idempotency_key enable row level security;
do $$
declare
  grantee text;
begin
  for grantee in
    select case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end
    from pg_class c, aclexplode(c.relacl) a
    where c.oid = 'rowgraph.idempotency_key'::regclass and a.grantee <> c.relowner
  loop
    execute format('revoke all on rowgraph.idempotency_key from %s', grantee);
  end loop;
end
$$;

-- A login that may become a role may act for all its callers anyway. Code that runs as the role, within a request, may not.
create or replace function rowgraph.check_server(for_role text) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('role') <> 'none' or not pg_has_role(session_user, for_role, 'member') then
    raise exception using errcode = '42501', message = 'idempotency keys are for servers, which log in and then set the role';
  end if;
end
$$;

-- Takes a key for the mutation of this transaction, waiting for any other transaction that is taking it. Raises RG002 if the key has the
-- response to this request, RG003 if it belongs to another request. Disables sequential scans because a connection would keep a plan that
-- was made while the table was small.
create or replace function rowgraph.claim_key(for_role text, for_caller bytea, for_key text, for_request bytea, lifetime interval) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  known_request bytea;
begin
  perform rowgraph.check_server(for_role);
  loop
    insert into rowgraph.idempotency_key as k (role, caller, key, request, transaction, expires_at)
      values (for_role, for_caller, for_key, for_request, pg_current_xact_id(), now() + lifetime)
      on conflict on constraint idempotency_key_pkey do update
        set request = excluded.request, response = null, transaction = excluded.transaction, created_at = now(), expires_at = excluded.expires_at
        where k.expires_at <= now();
    exit when found;
    select k.request into known_request from rowgraph.idempotency_key k
      where k.role = for_role and k.caller = for_caller and k.key = for_key;
    continue when not found;
    if known_request = for_request then
      raise exception using errcode = 'RG002', message = 'the idempotency key has a response';
    end if;
    raise exception using errcode = 'RG003', message = 'the idempotency key belongs to another request';
  end loop;
  -- Removes a few expired keys, skipping those that others are deleting. Under a stricter isolation level, this could fail the transaction.
  if current_setting('transaction_isolation') = 'read committed' then
    delete from rowgraph.idempotency_key where ctid = any (array(
      select k.ctid from rowgraph.idempotency_key k where k.expires_at <= now() order by k.expires_at limit 10 for update skip locked));
  end if;
end
$$;

-- Completes the key of this transaction with its response: the texts, joined by the results, each of which its statement has stored in a
-- setting.
create or replace function rowgraph.keep_response(for_role text, for_caller bytea, for_key text, texts text[], empties text[]) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  update rowgraph.idempotency_key k set response = texts[1] || (
    select string_agg(coalesce(nullif(current_setting('rowgraph.result_' || (n - 1), true), ''), empties[n]) || texts[n + 1], '' order by n)
    from generate_series(1, cardinality(empties)) n
  ) where k.role = for_role and k.caller = for_caller and k.key = for_key and k.transaction = pg_current_xact_id();
  if not found then
    raise exception using errcode = '42501', message = 'the idempotency key is not one of this transaction';
  end if;
end
$$;

-- Returns the response to a request; null if it has expired.
create or replace function rowgraph.read_response(for_role text, for_caller bytea, for_key text, for_request bytea) returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  perform rowgraph.check_server(for_role);
  return (
    select k.response from rowgraph.idempotency_key k
    where k.role = for_role and k.caller = for_caller and k.key = for_key and k.request = for_request and k.expires_at > now()
  );
end
$$;

grant execute on function rowgraph.version(),
  rowgraph.claim_key(text, bytea, text, bytea, interval),
  rowgraph.keep_response(text, bytea, text, text[], text[]),
  rowgraph.read_response(text, bytea, text, bytea) to public;
revoke execute on function rowgraph.check_server(text) from public;
comment on schema rowgraph is 'The schema version and the idempotency keys of rowgraph';
`;
