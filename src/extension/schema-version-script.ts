/**
 * Version 1.0 of the extension, which tells rowgraph about DDL as soon as it commits. In the schema `rowgraph`, event triggers add a row to
 * a table for each transaction with DDL, and notify. The SQL is in a module so that bundlers include it. As plain SQL it can be run again.
 *
 * The schema version is the sum over all rows. Rows are only added (or folded into one with the same sum), and become visible when their
 * transaction commits: concurrent DDL neither waits nor is lost, and DDL that is rolled back leaves no trace. Weights are random, so that a
 * version does not recur after the table is recreated or a backup is restored.
 */
export const schemaVersionScript = `-- In a schema that another role owns, a table could have triggers that would run as the installing role.
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

-- Folds all rows into one, to keep reading the version cheap. Skips rows that another transaction is folding.
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

-- Stops a batch that was compiled for another version, before any of it runs. Parallel safe, because queries contain a call of it and could
-- not be planned in parallel otherwise.
create or replace function rowgraph.raise_stale_schema() returns text
  language plpgsql parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'RG001', message = 'the schema has changed';
end
$$;

-- Security definer, because roles that change the schema have no privileges on the table.
create or replace function rowgraph.note_schema_change() returns event_trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  this_transaction constant text := pg_current_xact_id()::text;
begin
  if tg_event = 'sql_drop' then
    -- Objects dropped along with another (such as the rule of a temporary view) are not always marked as temporary, so only the original
    -- one counts.
    if not exists (select from pg_event_trigger_dropped_objects() where original and not is_temporary) then
      return;
    end if;
  elsif tg_tag in ('REFRESH MATERIALIZED VIEW', 'REINDEX')
    or not exists (select from pg_event_trigger_ddl_commands() where schema_name is distinct from 'pg_temp') then
    return;
  end if;
  -- Once per transaction is enough. Rolling back to a savepoint undoes the setting together with the row.
  if current_setting('rowgraph.changed_in', true) is not distinct from this_transaction then
    return;
  end if;
  perform set_config('rowgraph.changed_in', this_transaction, true);
  insert into rowgraph.schema_change values (1 + (random() * 1e9)::bigint);
  -- A transaction that has notified cannot be prepared for two-phase commit. If that is enabled, batches detect the change themselves.
  if current_setting('max_prepared_transactions')::integer = 0 then
    perform pg_notify('rowgraph_schema', '');
  end if;
  -- Under a stricter isolation level, touching rows of other transactions could fail this one.
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
