/**
 * Version 1.1 of the extension, which adds its version, and idempotency keys of mutations with their responses. The SQL is in a module so
 * that bundlers include it. As plain SQL it can be run again. `docs/decisions.md` explains why everybody may execute the
 * functions, and what they check.
 */
import { revokeFromOthers } from './schema-version-scripts.ts';

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
${revokeFromOthers('table', 'rowgraph.idempotency_key')}

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

/**
 * Version 1.2 of the extension, which bounds what idempotency keys take. The server passes the bounds in the setting `rowgraph.key_bounds`,
 * so that `claim_key` keeps its parameters, and servers and extensions of different versions work together. As plain SQL it can be run
 * again. `docs/decisions.md` explains how the bounds are kept.
 */
export const keyStorageScript = `create or replace function rowgraph.version() returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$ select '1.2'::text $$;

-- What all keys took when that was last read, and when. In sequences, because a mutation that is refused is rolled back, and
-- sequences are not.
create sequence if not exists rowgraph.idempotency_bytes;
create sequence if not exists rowgraph.idempotency_read_at;
comment on sequence rowgraph.idempotency_bytes is 'The bytes of all idempotency keys when they were last read';
comment on sequence rowgraph.idempotency_read_at is 'When the bytes of all idempotency keys were last read, in seconds since 1970';

-- Default privileges may have granted other roles access.
${revokeFromOthers('sequence', 'rowgraph.idempotency_bytes', 'rowgraph.idempotency_read_at')}

-- Reads the bytes of all keys, which then count for five seconds: those of the files, or of the keys that have not expired if the files have
-- grown to the bound, because files hardly ever shrink. Counting reads the whole table. Also removes many expired keys then, under any
-- isolation level: a mutation that fails for it is run again, and goes by what was read.
create or replace function rowgraph.read_key_bytes(most bigint) returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = on
as $$
declare
  this_second constant bigint := extract(epoch from clock_timestamp());
  bytes bigint := pg_total_relation_size('rowgraph.idempotency_key');
begin
  -- First, so that neither others nor this mutation, if it is run again, do the same.
  perform setval('rowgraph.idempotency_read_at', this_second);
  if bytes >= most then
    delete from rowgraph.idempotency_key where ctid = any (array(
      select k.ctid from rowgraph.idempotency_key k where k.expires_at <= now() order by k.expires_at limit 10000 for update skip locked));
    select coalesce(sum(300 + 2 * octet_length(k.key) + coalesce(pg_column_size(k.response), 0)), 0) into bytes
      from rowgraph.idempotency_key k where k.expires_at > now();
  end if;
  return setval('rowgraph.idempotency_bytes', greatest(1, bytes));
end
$$;

-- Raises RG004 if the keys of a caller leave no room for another one, RG006 if all keys do, unless this one is a repeat. Leaves in a setting
-- how long the response may be. A key counts as its response and 1024 bytes.
create or replace function rowgraph.check_key_room(for_role text, for_caller bytea, for_key text, most_of_caller bigint, most bigint) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  room bigint := most_of_caller - 1024;
  bytes bigint;
begin
  if most_of_caller is not null then
    -- Under \`serializable\`, mutations of a caller that read the keys of each other would fail.
    if current_setting('transaction_isolation') <> 'serializable' then
      room := room - (
        select coalesce(sum(1024 + coalesce(octet_length(k.response), 0)), 0) from rowgraph.idempotency_key k
        where k.role = for_role and k.caller = for_caller and k.expires_at > now());
    end if;
    perform set_config('rowgraph.response_room', least(room, most_of_caller / 16)::text, true);
  end if;
  if most is not null then
    if coalesce(pg_sequence_last_value('rowgraph.idempotency_read_at'), 0) > extract(epoch from clock_timestamp()) - 5 then
      bytes := pg_sequence_last_value('rowgraph.idempotency_bytes');
    else
      bytes := rowgraph.read_key_bytes(most);
    end if;
  end if;
  if (room < 0 or bytes >= most) is not true then
    return;
  end if;
  if exists (
    select from rowgraph.idempotency_key k
    where k.role = for_role and k.caller = for_caller and k.key = for_key and k.expires_at > now()
  ) then
    return;
  end if;
  if room < 0 then
    raise exception using errcode = 'RG004', message = 'the idempotency keys of the caller take all that they may';
  end if;
  raise exception using errcode = 'RG006', message = 'all idempotency keys together take all that they may';
end
$$;

-- Takes a key for the mutation of this transaction, waiting for any other transaction that is taking it. Raises RG002 if the key has the
-- response to this request, RG003 if it belongs to another request. Disables sequential scans because a connection would keep a plan that
-- was made while the table was small.
create or replace function rowgraph.claim_key(for_role text, for_caller bytea, for_key text, for_request bytea, lifetime interval) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  -- Of the caller's keys, and of all keys, in bytes.
  bounds constant bigint[] := nullif(current_setting('rowgraph.key_bounds', true), '');
  known_request bytea;
begin
  perform rowgraph.check_server(for_role);
  -- Before the insert, so that a mutation that is refused leaves no dead row.
  perform rowgraph.check_key_room(for_role, for_caller, for_key, bounds[1], bounds[2]);
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
-- setting. Raises RG005 if the response is longer than it may be.
create or replace function rowgraph.keep_response(for_role text, for_caller bytea, for_key text, texts text[], empties text[]) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  answer constant text := texts[1] || (
    select string_agg(coalesce(nullif(current_setting('rowgraph.result_' || (n - 1), true), ''), empties[n]) || texts[n + 1], '' order by n)
    from generate_series(1, cardinality(empties)) n);
begin
  if octet_length(answer) > nullif(current_setting('rowgraph.response_room', true), '')::bigint then
    raise exception using errcode = 'RG005', message = 'the response is too long to be stored for an idempotency key';
  end if;
  update rowgraph.idempotency_key k set response = answer
    where k.role = for_role and k.caller = for_caller and k.key = for_key and k.transaction = pg_current_xact_id();
  if not found then
    raise exception using errcode = '42501', message = 'the idempotency key is not one of this transaction';
  end if;
end
$$;

revoke execute on function rowgraph.read_key_bytes(bigint), rowgraph.check_key_room(text, bytea, text, bigint, bigint) from public;
`;
