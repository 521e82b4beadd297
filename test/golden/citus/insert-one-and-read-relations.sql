with changed as (insert into "shop"."task" as t1 ("tenant_id", "id", "project_id", "assignee_id", "title", "tags", "data")
  values ($1::integer, $2::bigint, $3::bigint, $4::bigint, $5::text, $6::text[], $7::jsonb)
  returning t1."tenant_id", t1."id")
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w.*), '[]')::text, true), 0)
from (select c."tenant_id"::text as c0, c."id"::text as c1
  from changed as c) as w cross join (select 1 from pg_catalog.pg_am limit 1) as here;

select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"title":', pg_catalog.to_json(t1."title"),
        ',"status":"', pg_catalog.enum_out(t1."status"),
        '","project":', t1."(related 1)",
        ',"account":', t1."(related 2)",
        '}'), ',' order by t1."(number)"), ''), ']}')
from (select t1."title", t1."status", coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"),
        ',"taskCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t3."id"::int8, '"}}'), ','), '')
          from (select t3."id"
            from "shop"."task" as t3
            where t3."tenant_id" = t2."tenant_id" and t3."project_id" = t2."id" and t3."tenant_id" = $1::integer
            order by t3."tenant_id", t3."id"
            limit 30) as t3),
        ']}}')
      from "shop"."project" as t2
      where t2."tenant_id" = t1."tenant_id" and t2."id" = t1."project_id" and t2."tenant_id" = $1::integer), 'null') as "(related 1)", coalesce((select pg_catalog.concat('{"email":', pg_catalog.to_json(t4."email"), '}')
      from "shop"."account" as t4
      where t4."tenant_id" = t1."tenant_id" and t4."id" = t1."assignee_id" and t4."tenant_id" = $1::integer), 'null') as "(related 2)", w.n as "(number)"
  from (select w.*
    from rows from (pg_catalog.json_to_recordset((select pg_catalog.current_setting('rowgraph.written', true)::json)) as (c0 text, c1 text)) with ordinality as w(c0, c1, n) cross join (select 1 from pg_catalog.pg_am limit 1) as here) as w
  join "shop"."task" as t1 on t1."tenant_id" = w.c0::integer and t1."id" = w.c1::bigint and t1."tenant_id" = $1::integer
  offset 0) as t1;
