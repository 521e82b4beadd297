/**
 * Version 1.0 of the extension, which tells rowgraph about DDL as soon as it commits. In the schema `rowgraph`, event triggers add a row to
 * a table for each transaction with DDL, and notify. The SQL is in a module so that bundlers include it. As plain SQL it can be run again.
 *
 * The schema version is the sum over all rows. Rows are only added (or folded into one with the same sum), and become visible when their
 * transaction commits: concurrent DDL neither waits nor is lost, and DDL that is rolled back leaves no trace. Weights are random, so that a
 * version does not recur after the table is recreated or a backup is restored.
 */
export const schemaVersionScript = `-- In a schema of somebody else's, a table could have triggers that would run as whoever installs this.
do $$
begin
  if exists (
    select from pg_namespace n join pg_roles r on r.oid = n.nspowner
    where n.nspname = 'rowgraph' and not r.rolsuper and r.rolname <> current_user
  ) then
    raise exception using errcode = '42501', message = 'the schema rowgraph belongs to another role; drop it, or rename it';
  end if;
end
$$;

create schema if not exists rowgraph;
create table if not exists rowgraph.schema_change (weight bigint not null);
comment on table rowgraph.schema_change is 'A row for each transaction that changed the schema; the schema version is the sum.';
insert into rowgraph.schema_change
  select 1 + (random() * 1e9)::bigint where not exists (select from rowgraph.schema_change);

-- Keeps reading the version cheap. Rows that another transaction is folding are left to it.
create or replace function rowgraph.fold_schema_changes() returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with folded as (
    delete from rowgraph.schema_change
    where ctid in (select ctid from rowgraph.schema_change for update skip locked)
    returning weight
  )
  insert into rowgraph.schema_change select sum(weight) from folded having count(*) > 0
$$;

-- Ends a batch that was compiled for another version, before anything of it ran.
-- Parallel safe, because queries hold a call of it and would otherwise not be planned for several processes.
create or replace function rowgraph.raise_stale_schema() returns text
  language plpgsql parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'RG001', message = 'the schema has changed';
end
$$;

-- Security definer: whoever changes the schema has no rights on our table.
create or replace function rowgraph.note_schema_change() returns event_trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  this_transaction constant text := pg_current_xact_id()::text;
begin
  if tg_event = 'sql_drop' then
    -- What goes along with an object (the rule of a temporary view) is not always known as temporary.
    if not exists (select from pg_event_trigger_dropped_objects() where original and not is_temporary) then
      return;
    end if;
  elsif tg_tag in ('REFRESH MATERIALIZED VIEW', 'REINDEX')
    or not exists (select from pg_event_trigger_ddl_commands() where schema_name is distinct from 'pg_temp') then
    return;
  end if;
  -- Once in a transaction is enough. The setting is undone with the savepoint or the transaction that the row is undone with.
  if current_setting('rowgraph.changed_in', true) is not distinct from this_transaction then
    return;
  end if;
  perform set_config('rowgraph.changed_in', this_transaction, true);
  insert into rowgraph.schema_change values (1 + (random() * 1e9)::bigint);
  -- A transaction that notified cannot be prepared for two-phase commit. Where that is on, batches find out by themselves.
  if current_setting('max_prepared_transactions')::integer = 0 then
    perform pg_notify('rowgraph_schema', '');
  end if;
  -- Under a stricter isolation level, to touch what others added could fail this transaction.
  if current_setting('transaction_isolation') = 'read committed' and (select count(*) > 100 from rowgraph.schema_change) then
    perform rowgraph.fold_schema_changes();
  end if;
end
$$;

revoke execute on all functions in schema rowgraph from public;
grant execute on function rowgraph.raise_stale_schema() to public;
grant usage on schema rowgraph to public;
grant select on rowgraph.schema_change to public;

drop event trigger if exists rowgraph_ddl;
create event trigger rowgraph_ddl on ddl_command_end execute function rowgraph.note_schema_change();
alter event trigger rowgraph_ddl enable always;
drop event trigger if exists rowgraph_drop;
create event trigger rowgraph_drop on sql_drop execute function rowgraph.note_schema_change();
alter event trigger rowgraph_drop enable always;

select rowgraph.fold_schema_changes();
`;
