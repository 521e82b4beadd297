/**
 * Version 1.4 of the extension, which lets rowgraph know which tables a transaction has changed: functions for triggers, and functions that
 * set up triggers and a publication. Nothing is set up before `rowgraph live install` (`install-live.ts`). The SQL is in a module so that
 * bundlers include it. As plain SQL it can be run again, and without the rest of the extension.
 */
import { describeChangeScript, revokeFromOthers } from './schema-version-scripts.ts';

/** Tables, and the functions that triggers call: they do all that a write costs. */
const noteScript = `create schema if not exists rowgraph;
grant usage on schema rowgraph to public;

create table if not exists rowgraph.live_setting (
  method text not null check (method in ('wal', 'messages', 'table', 'notify'))
);
comment on table rowgraph.live_setting is 'How changes of rows are announced; empty unless that is set up.';
create unlogged table if not exists rowgraph.live_change (
  xid xid8 not null default pg_current_xact_id(),
  relation oid not null,
  primary key (xid, relation)
);
comment on table rowgraph.live_change is 'Which tables recent transactions have changed, if the method is "table".';
${revokeFromOthers('table', 'rowgraph.live_setting', 'rowgraph.live_change')}
-- Which tables change is no secret: pg_stat_all_tables says so to everybody.
grant select on rowgraph.live_setting, rowgraph.live_change to public;

-- Security definer, because writers need no privilege on anything of rowgraph's.
create or replace function rowgraph.emit_change() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_logical_emit_message(true, 'rowgraph', tg_relid::text);
  return null;
end
$$;
create or replace function rowgraph.record_change() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into rowgraph.live_change (relation) values (tg_relid) on conflict do nothing;
  return null;
end
$$;
create or replace function rowgraph.notify_change() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('rowgraph_change', tg_relid::text);
  return null;
end
$$;

-- Removes some of what a snapshot saw that is so old that every reader has read it. Returns how many rows that were.
create or replace function rowgraph.clean_live_changes(read pg_snapshot) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  removed integer;
begin
  if current_setting('role') <> 'none' then
    raise exception using errcode = '42501', message = 'live changes are for servers, which log in and then set the role';
  end if;
  delete from rowgraph.live_change where ctid = any (array(
    select c.ctid from (select l.ctid, l.xid from rowgraph.live_change l order by l.xid limit 10000) c where pg_visible_in_snapshot(c.xid, read)));
  get diagnostics removed = row_count;
  return removed;
end
$$;
grant execute on function rowgraph.clean_live_changes(pg_snapshot) to public;
`;

/** Which tables can be covered, and how. */
const coverScript = `-- The columns that identify a row of a table that a publication may list: none if it is the whole row, null if updates and deletes would
-- fail. A deferrable key does not identify rows, and generated columns may not be published.
create or replace function rowgraph.identity_columns(relation oid) returns name[]
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case c.relreplident
    when 'f' then (
      select array[]::name[] where not exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attgenerated <> '' and not a.attisdropped))
    else (
      select array_agg(a.attname order by a.attnum)
      from pg_index i cross join unnest(i.indkey::int2[]) with ordinality k(attnum, position)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = c.oid and i.indisvalid and i.indimmediate and k.position <= i.indnkeyatts
        and case c.relreplident when 'd' then i.indisprimary when 'i' then i.indisreplident end
      having bool_and(a.attgenerated = ''))
  end
  from pg_class c where c.oid = relation and c.relkind = 'r' and c.relpersistence = 'p'
$$;

-- Tables whose rows change by statements here: neither system catalogs, nor temporary tables, nor parts of an extension.
create or replace function rowgraph.live_tables() returns setof oid
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and c.relpersistence <> 't' and c.oid >= 16384
    and n.nspname not in ('pg_catalog', 'information_schema', 'rowgraph') and n.nspname !~ '^pg_(toast|temp)'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by c.oid
$$;

create or replace function rowgraph.live_function(method text) returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$ select case method when 'table' then 'record_change' when 'notify' then 'notify_change' else 'emit_change' end $$;

-- Whether a table needs a trigger. A statement fires only the triggers of the table that it names, so a parent needs one, too, if a
-- publication does not list all its descendants.
create or replace function rowgraph.needs_trigger(relation oid, method text) returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  with recursive descendant as (
    select relation as oid union select i.inhrelid from pg_inherits i join descendant d on d.oid = i.inhparent
  )
  select method <> 'wal' or exists (
    select from descendant d join pg_class c on c.oid = d.oid where c.relkind = 'r' and rowgraph.identity_columns(d.oid) is null)
$$;

-- Makes the changes of a table known by the method, or by none if it is null. Needs the table's owner.
create or replace function rowgraph.cover_table(relation oid, method text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  wanted name[] := case when method = 'wal' then rowgraph.identity_columns(relation) end;
  has_columns constant boolean := current_setting('server_version_num')::integer >= 150000;
  is_published boolean;
  published name[];
  present_function name;
  present_state "char";
  needed boolean;
begin
  -- PostgreSQL 14 has no such lists.
  select true, array(
      select a.attname from pg_attribute a where a.attrelid = r.prrelid and to_jsonb(r) -> 'prattrs' @> to_jsonb(a.attnum) order by a.attnum
    ) into is_published, published
    from pg_publication_rel r join pg_publication p on p.oid = r.prpubid where p.pubname = 'rowgraph_live' and r.prrelid = relation;
  if is_published and (wanted is null or (has_columns and published <> wanted)) then
    execute format('alter publication rowgraph_live drop table only %s', relation::regclass);
    is_published := false;
  end if;
  if wanted is not null and is_published is not true then
    execute format('alter publication rowgraph_live add table only %s%s', relation::regclass,
      case when has_columns and wanted <> '{}' then (select ' (' || string_agg(quote_ident(u), ', ') || ')' from unnest(wanted) u) else '' end);
  end if;
  select p.proname, t.tgenabled into present_function, present_state
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid where t.tgrelid = relation and t.tgname = 'rowgraph_live';
  needed := method is not null and rowgraph.needs_trigger(relation, method);
  if present_function is not null and (not needed or present_function <> rowgraph.live_function(method)) then
    execute format('drop trigger rowgraph_live on %s', relation::regclass);
    present_function := null;
  end if;
  if not needed then
    return;
  end if;
  if present_function is null then
    execute format('create trigger rowgraph_live after insert or update or delete or truncate on %s for each statement execute function rowgraph.%I()',
      relation::regclass, rowgraph.live_function(method));
  end if;
  -- Also where triggers are off, as in bulk loads that set session_replication_role. It takes an owner.
  if present_function is null or present_state <> 'A' then
    execute format('alter table %s enable always trigger rowgraph_live', relation::regclass);
  end if;
end
$$;
revoke execute on function rowgraph.emit_change(), rowgraph.record_change(), rowgraph.notify_change(), rowgraph.cover_table(oid, text) from public;
`;

/**
 * What DDL changes. Nothing here makes a command fail: what cannot be covered is polled. The wait for locks is bounded, because
 * transactions with DDL would otherwise queue on the publication.
 */
const followScript = `-- Announces that anything in a table may have changed.
create or replace function rowgraph.announce_change(relation oid, method text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if method = 'table' then
    insert into rowgraph.live_change (relation) values (relation) on conflict do nothing;
  elsif method <> 'notify' then
    perform pg_logical_emit_message(true, 'rowgraph', relation::text);
  else
    perform pg_notify('rowgraph_change', relation::text);
  end if;
end
$$;

create or replace function rowgraph.follow_table(changed oid, method text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  relation oid;
begin
  for relation in
    with recursive ancestor as (
      select changed as oid union select i.inhparent from pg_inherits i join ancestor a on a.oid = i.inhrelid
    ),
    relative as (
      select a.oid from ancestor a union select i.inhrelid from pg_inherits i join relative r on r.oid = i.inhparent
    )
    select r.oid from relative r where r.oid in (select rowgraph.live_tables())
  loop
    begin
      perform rowgraph.cover_table(relation, method);
    exception when others then
      -- The publication may be locked by other DDL, or gone. A trigger needs neither.
      begin
        if method = 'wal' then
          perform rowgraph.cover_table(relation, 'messages');
        end if;
      exception when others then
        null;
      end;
    end;
  end loop;
end
$$;

-- Security definer, because roles that change the schema own neither the publication nor its functions.
create or replace function rowgraph.follow_ddl() returns event_trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '300ms'
as $$
declare
  this_method text;
  relation oid;
begin
  select s.method into this_method from rowgraph.live_setting s limit 1;
  if this_method is null then
    return;
  end if;
  begin
    if tg_event = 'ddl_command_end' then
      for relation in
        select distinct c.objid from pg_event_trigger_ddl_commands() c
        where c.classid = 'pg_class'::regclass and c.schema_name is distinct from 'pg_temp' and c.object_type <> 'index'
      loop
        if tg_tag <> 'REFRESH MATERIALIZED VIEW' then
          perform rowgraph.follow_table(relation, this_method);
        end if;
        if tg_tag in ('ALTER TABLE', 'REFRESH MATERIALIZED VIEW') then
          perform rowgraph.announce_change(relation, this_method);
        end if;
      end loop;
    elsif this_method = 'wal' and exists (
      select from pg_event_trigger_dropped_objects() d where d.object_type in ('index', 'table constraint', 'table column')
    ) then
      for relation in
        select r.prrelid from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
        where p.pubname = 'rowgraph_live' and rowgraph.identity_columns(r.prrelid) is null
      loop
        perform rowgraph.follow_table(relation, this_method);
      end loop;
    end if;
  exception when others then
    raise log 'rowgraph cannot follow %: %', tg_tag, sqlerrm;
  end;
end
$$;

-- PostgreSQL refuses to change the type of a column that a publication lists, to drop it, and to make a published table unlogged. Before
-- commands that may do so, the tables that they name leave the publication; follow_ddl lets them in again.
create or replace function rowgraph.make_way_for_ddl() returns event_trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '300ms'
as $$
declare
  relation oid;
begin
  if current_query() !~* '\\m(type|drop|unlogged)\\M' or not exists (select from rowgraph.live_setting s where s.method = 'wal') then
    return;
  end if;
  begin
    for relation in
      select c.oid from pg_publication_rel r join pg_publication p on p.oid = r.prpubid join pg_class c on c.oid = r.prrelid
      where p.pubname = 'rowgraph_live'
        and current_query() ~* ('(^|[^[:alnum:]_])' || regexp_replace(c.relname, '([^[:alnum:]_])', '\\\\\\1', 'g') || '([^[:alnum:]_]|$)')
    loop
      execute format('alter publication rowgraph_live drop table only %s', relation::regclass);
    end loop;
  exception when others then
    raise log 'rowgraph cannot make way for %: %', tg_tag, sqlerrm;
  end;
end
$$;
revoke execute on function rowgraph.announce_change(oid, text), rowgraph.follow_table(oid, text), rowgraph.follow_ddl(), rowgraph.make_way_for_ddl() from public;
`;

/** Needs a superuser. */
const eventTriggersScript = `do $$
begin
  if not exists (select from pg_event_trigger where evtname = 'rowgraph_live_start') then
    create event trigger rowgraph_live_start on ddl_command_start when tag in ('ALTER TABLE') execute function rowgraph.make_way_for_ddl();
    alter event trigger rowgraph_live_start enable always;
  end if;
  if not exists (select from pg_event_trigger where evtname = 'rowgraph_live_end') then
    create event trigger rowgraph_live_end on ddl_command_end
      when tag in ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE', 'CREATE SCHEMA', 'REFRESH MATERIALIZED VIEW')
      execute function rowgraph.follow_ddl();
    alter event trigger rowgraph_live_end enable always;
  end if;
  if not exists (select from pg_event_trigger where evtname = 'rowgraph_live_drop') then
    create event trigger rowgraph_live_drop on sql_drop
      when tag in ('ALTER TABLE', 'DROP INDEX', 'DROP TYPE', 'DROP DOMAIN', 'DROP FUNCTION', 'DROP SCHEMA', 'DROP OWNED')
      execute function rowgraph.follow_ddl();
    alter event trigger rowgraph_live_drop enable always;
  end if;
end
$$;
`;

const versionScript = `create or replace function rowgraph.version() returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$ select '1.4'::text $$;
`;

/** What announces changes of rows, without what needs a superuser. */
export const liveFunctionsScript = noteScript + coverScript;

export const liveScript = `${versionScript}
${liveFunctionsScript}
${followScript}
${eventTriggersScript}
${describeChangeScript('1.4')}
comment on schema rowgraph is 'The schema version, the idempotency keys and the live queries of rowgraph';
`;
