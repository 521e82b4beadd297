with changed as (delete from "shop"."comment" as t1
  where (t1."tenant_id" = $1::integer and t1."id" = $2::bigint)
  returning t1."words", t1."tenant_id", t1."task_id")
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w.*), '[]')::text, true), 0),
case when pg_catalog.count(*) > $3::int4 then ('rowgraph: delete-too-many: ' || pg_catalog.left(pg_catalog.count(*)::text, 0))::int4::text else '' end
from (select c."words"::text as c0, c."tenant_id"::text as c1, c."task_id"::text as c2
  from changed as c) as w cross join (select 1 from pg_catalog.pg_am limit 1) as here;

select pg_catalog.concat('{"affectedCount":', (select pg_catalog.json_array_length((select pg_catalog.current_setting('rowgraph.written', true)::json))
    from (select 1 from pg_catalog.pg_am limit 1) as here),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"words":', pg_catalog.to_json(t1."words"),
        ',"task":', coalesce((select pg_catalog.concat('{"title":', pg_catalog.to_json(t2."title"), '}')
            from "shop"."task" as t2
            where t2."tenant_id" = t1."tenant_id" and t2."id" = t1."task_id" and t2."tenant_id" = $1::integer), 'null'),
        '}'), ',' order by t1."(number)"), ''),
  ']}')
from (select w.c0::text as "words", w.c1::integer as "tenant_id", w.c2::bigint as "task_id", w.n as "(number)"
  from (select w.*
    from rows from (pg_catalog.json_to_recordset((select pg_catalog.current_setting('rowgraph.written', true)::json)) as (c0 text, c1 text, c2 text)) with ordinality as w(c0, c1, c2, n) cross join (select 1 from pg_catalog.pg_am limit 1) as here) as w) as t1;
