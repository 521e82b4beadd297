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

/** Default privileges may have granted other roles access to what the extension has created. */
export function revokeFromOthers(kind: 'table' | 'sequence', ...names: readonly string[]): string {
  const relations = names.map((name) => `'${name}'::regclass`).join(', ');
  return `do $$
declare
  relation regclass;
  grantee text;
begin
  for relation, grantee in
    select c.oid::regclass, case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end
    from pg_class c, aclexplode(c.relacl) a where c.oid in (${relations}) and a.grantee <> c.relowner
  loop
    execute format('revoke all on ${kind} %s from %s', relation, grantee);
  end loop;
end
$$;`;
}

/**
 * Version 1.3 of the extension, which notes for half a minute what each transaction changed, so that a server can tell whether that matters
 * to its API. The SQL is in a module so that bundlers include it. As plain SQL it can be run again.
 *
 * The weights of the noted transactions add up to the difference of two schema versions, or some are missing and the server loads the
 * schema. A transaction may have several rows. What is not known to be harmless is noted as `needs_load`, without a schema.
 */
export const recentChangeScript = `create or replace function rowgraph.version() returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$ select '1.3'::text $$;

create table if not exists rowgraph.recent_change (
  -- That of the transaction in schema_change.
  weight bigint not null,
  -- Null if the object has none.
  schema_name text,
  -- The table or view that was created, altered or dropped, and its name afterwards.
  relation oid,
  relation_name text,
  -- Whether the change concerns only APIs that depend on this schema.
  is_local boolean not null,
  -- Whether it concerns only requests for this table.
  is_alone boolean not null,
  -- Whether an unchanged fingerprint of the catalogs (read-fingerprint.ts) does not prove that the API is unchanged.
  needs_load boolean not null,
  noted_at timestamptz not null default clock_timestamp()
);
comment on table rowgraph.recent_change is 'What recent transactions changed in the schema.';
${revokeFromOthers('table', 'rowgraph.recent_change')}
grant select on rowgraph.recent_change to public;

create or replace function rowgraph.fold_schema_changes() returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with folded as (
    delete from rowgraph.schema_change
    where ctid in (select ctid from rowgraph.schema_change for update skip locked)
    returning weight
  )
  insert into rowgraph.schema_change select sum(weight) from folded having count(*) > 0;
  delete from rowgraph.recent_change where ctid in (
    select ctid from rowgraph.recent_change where noted_at < clock_timestamp() - interval '30 seconds' for update skip locked
  );
$$;

${describeChangeScript('1.3')}
-- Security definer, because roles that change the schema have no privileges on the tables.
create or replace function rowgraph.note_schema_change() returns event_trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  this_transaction constant text := pg_current_xact_id()::text;
  most_rows constant integer := 100;
  anything constant jsonb := '[[null, null, null, false, false, true]]';
  -- What this transaction has noted: its id, its weight, the number of its rows. Rolling back to a savepoint undoes it together with the rows.
  noted text[] := string_to_array(current_setting('rowgraph.changed_in', true), ' ');
  this_weight bigint;
  noted_rows integer;
  changes jsonb;
begin
  -- Whatever happens there must not make the command fail.
  begin
    changes := rowgraph.describe_change(tg_event, tg_tag);
  exception when others then
    changes := anything;
  end;
  if changes is null then
    return;
  end if;
  if noted[1] is distinct from this_transaction or cardinality(noted) <> 3 then
    this_weight := 1 + (random() * 1e9)::bigint;
    noted_rows := 0;
    insert into rowgraph.schema_change values (this_weight);
    -- A transaction that has notified cannot be prepared for two-phase commit. If that is enabled, batches detect the change themselves.
    if current_setting('max_prepared_transactions')::integer = 0 then
      perform pg_notify('rowgraph_schema', '');
    end if;
  else
    this_weight := noted[2]::bigint;
    noted_rows := noted[3]::integer;
  end if;
  if noted_rows > most_rows then
    return;
  end if;
  noted_rows := noted_rows + jsonb_array_length(changes);
  if noted_rows > most_rows then
    changes := anything;
  end if;
  perform set_config('rowgraph.changed_in', concat_ws(' ', this_transaction, this_weight, noted_rows), true);
  insert into rowgraph.recent_change (weight, schema_name, relation, relation_name, is_local, is_alone, needs_load)
    select this_weight, c ->> 0, (c ->> 1)::oid, c ->> 2, (c ->> 3)::boolean, (c ->> 4)::boolean, (c ->> 5)::boolean from jsonb_array_elements(changes) c;
  -- Under a stricter isolation level, touching rows of other transactions could fail this one.
  if current_setting('transaction_isolation') = 'read committed' and (select count(*) > 100 from rowgraph.schema_change) then
    perform rowgraph.fold_schema_changes();
  end if;
end
$$;

revoke execute on function rowgraph.note_schema_change(), rowgraph.fold_schema_changes(), rowgraph.describe_change(text, text) from public;
`;

/**
 * The function that tells DDL apart. From 1.4 on, the triggers of `live-scripts.ts` and publications, which concern no API, do not count.
 */
export function describeChangeScript(version: '1.3' | '1.4'): string {
  const isOurs =
    "tgname = 'rowgraph_live' and t.tgfoid in (select f.oid from pg_proc f where f.pronamespace = to_regnamespace('rowgraph'))";
  const isUsers = version === '1.3' ? '' : ` and not (t.${isOurs})`;
  const isOfApi =
    version === '1.3'
      ? ''
      : `
        and c.object_type not like 'publication%'
        and not exists (select from pg_trigger t where c.classid = 'pg_trigger'::regclass and t.oid = c.objid and t.${isOurs})`;
  return `-- What the present command changed, as rows of recent_change in JSON; null if that is nothing. Only for the event triggers.
create or replace function rowgraph.describe_change(event text, tag text) returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  -- Types of objects that concern an API only if it depends on their schema.
  local_types constant text[] := array[
    'table', 'table column', 'table constraint', 'view', 'view column', 'materialized view', 'materialized view column', 'foreign table',
    'foreign table column', 'index', 'sequence', 'statistics object', 'default value', 'trigger', 'policy'
  ];
  setting_functions constant text := 'set_config|current_setting|setseed|advisory_lock';
  relation_types constant text[] := array['table', 'view', 'materialized view', 'foreign table'];
  -- Commands whose effects on the API the fingerprint shows.
  compared_tags constant text[] := array[
    'ALTER DEFAULT PRIVILEGES', 'ALTER FUNCTION', 'ALTER INDEX', 'ALTER POLICY', 'ALTER PROCEDURE', 'ALTER SCHEMA', 'ALTER TABLE', 'ALTER TYPE',
    'COMMENT', 'CREATE FUNCTION', 'CREATE INDEX', 'CREATE POLICY', 'CREATE PROCEDURE', 'CREATE SCHEMA', 'CREATE STATISTICS', 'CREATE TABLE',
    'CREATE TABLE AS', 'CREATE TYPE', 'DROP DOMAIN', 'DROP FUNCTION', 'DROP INDEX', 'DROP MATERIALIZED VIEW', 'DROP POLICY', 'DROP PROCEDURE',
    'DROP SCHEMA', 'DROP STATISTICS', 'DROP TABLE', 'DROP TRIGGER', 'DROP TYPE', 'DROP VIEW', 'GRANT', 'REVOKE', 'SELECT INTO'
  ];
begin
  if event = 'sql_drop' then
    return (
      select jsonb_agg(distinct jsonb_build_array(
        case d.object_type when 'schema' then d.object_name else d.schema_name end,
        case when d.object_type = any (relation_types) then d.objid::int8 end, null,
        d.object_type = any (local_types) or d.object_type = 'schema', false, tag <> all (compared_tags)
      ))
      from pg_event_trigger_dropped_objects() d
      where not d.is_temporary
        -- Whatever else is dropped is part of one of these: types of rows, and the rules of views, which are not marked as temporary.
        and (d.original or d.normal or d.object_type = any (relation_types)) and (d.original or d.object_type <> 'rule')
        -- A default that is dropped with its table is part of it. PostgreSQL 14 does not say in which schema it is, nor that it is temporary.
        and not (d.object_type = 'default value' and exists (
          select from pg_event_trigger_dropped_objects() t
          where t.object_type = any (relation_types) and t.schema_name = d.address_names[1] and t.object_name = d.address_names[2]
        ))
        -- The end of the command notes the table.
        and not (tag = 'ALTER TABLE' and d.original and d.object_type in ('table column', 'table constraint', 'default value'))
    );
  end if;
  if tag in ('REFRESH MATERIALIZED VIEW', 'REINDEX') then
    return null;
  end if;
  return (
    with recursive command as (
      select c.command_tag, c.command_tag <> all (compared_tags) as needs_load,
        case c.command_tag when 'CREATE SCHEMA' then c.object_identity else c.schema_name end as schema_name,
        -- Of a schema that was renamed, only the new name is known.
        c.object_type = any (local_types) or c.command_tag = 'CREATE SCHEMA' as is_local,
        case
          when c.object_type = 'index' then (select i.indrelid from pg_index i where i.indexrelid = c.objid)
          when c.classid = 'pg_class'::regclass and c.object_type like any (array['%table', '%view', '%column']) then c.objid
        end as relation
      from pg_event_trigger_ddl_commands() c
      where c.schema_name is distinct from 'pg_temp'${isOfApi}
    ),
    ancestor as (
      select c.relation as child, i.inhparent as parent from command c join pg_inherits i on i.inhrelid = c.relation
      union
      select a.child, i.inhparent from ancestor a join pg_inherits i on i.inhrelid = a.parent
    ),
    relation as (
      select r.oid, r.relname, r.relkind, r.relispartition,
        exists (select from pg_inherits i where r.oid in (i.inhrelid, i.inhparent)) as is_related,
        r.relkind = 'p' or exists (select from pg_inherits i where i.inhparent = r.oid) as has_children,
        -- Code that runs with the table, wherever it is used from: functions, operators and domains of users, and what reads or changes the session.
        r.relkind in ('v', 'm') or r.relhasrules or exists (select from pg_policy p where p.polrelid = r.oid)
          or exists (select from pg_trigger t where t.tgrelid = r.oid and not t.tgisinternal${isUsers}) as has_hooks,
        exists (
          select from (
            select 'pg_class'::regclass::oid, r.oid
            union all select 'pg_class'::regclass::oid, i.indexrelid from pg_index i where i.indrelid = r.oid
            union all select 'pg_attrdef'::regclass::oid, x.oid from pg_attrdef x where x.adrelid = r.oid
            union all select 'pg_constraint'::regclass::oid, k.oid from pg_constraint k where k.conrelid = r.oid
          ) part(class, id) join pg_depend d on d.classid = part.class and d.objid = part.id
          where d.refobjid >= 16384 and (
            d.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass)
            or d.refclassid = 'pg_type'::regclass and exists (
              select from pg_type t where t.oid = d.refobjid and (t.typtype = 'd' or t.typcategory = 'A')
            )
          )
        )
        or exists (select from pg_attrdef x where x.adrelid = r.oid and pg_get_expr(x.adbin, x.adrelid) ~ setting_functions)
        or exists (select from pg_constraint k where k.conrelid = r.oid and k.contype = 'c' and pg_get_expr(k.conbin, k.conrelid) ~ setting_functions)
          as has_expressions
      from pg_class r
      where r.oid in (select c.relation from command c)
    ),
    noted as (
      select c.schema_name, r.oid as relation, r.relname as relation_name,
        -- Children and partitions change with their parent, whatever their schema.
        c.is_local and c.schema_name is not null and not coalesce(r.has_hooks or r.has_expressions or (r.has_children and c.command_tag like 'ALTER %'), false) as is_local,
        coalesce(c.command_tag = 'ALTER TABLE' and r.relkind = 'r' and not r.is_related and not r.has_expressions, false) as is_alone,
        -- Tables that inherit may differ in columns from the table that they inherit from; partitions may not.
        c.needs_load or coalesce(r.has_hooks or r.has_expressions, false)
          or exists (select from ancestor a where a.child = r.oid and not r.relispartition) as needs_load
      from command c left join relation r on r.oid = c.relation
    ),
    described as (
      select n.schema_name, n.relation, n.relation_name, n.is_local, n.is_alone, n.needs_load from noted n
      union
      -- What a table does with its foreign keys concerns the tables that they refer to.
      select s.nspname, t.oid, t.relname, true, true, n.needs_load
      from noted n join pg_constraint k on k.conrelid = n.relation and k.contype = 'f' join pg_class t on t.oid = k.confrelid
        join pg_namespace s on s.oid = t.relnamespace
      where n.is_alone
      union
      select s.nspname, p.oid, p.relname, true, false, n.needs_load
      from noted n join ancestor a on a.child = n.relation join pg_class p on p.oid = a.parent join pg_namespace s on s.oid = p.relnamespace
    )
    select jsonb_agg(distinct jsonb_build_array(d.schema_name, d.relation::int8, d.relation_name, d.is_local, d.is_alone, d.needs_load)) from described d
  );
end
$$;
`;
}
