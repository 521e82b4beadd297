with changed as (insert into "public"."performance" as t1 ("stage_id", "slot", "act_id")
  values ($1::integer, $2::integer, $3::bigint)
  returning t1."stage_id"::text as c0, t1."slot"::text as c1)
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w), '[]')::text, true), 0)
from (select c0, c1
  from changed) as w;

select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"act":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
            from "public"."act" as t2
            where t2."id" = t1."act_id"), 'null'),
        ',"reviewCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"stars":', t3."stars"::int4, '}}'), ','), '')
          from (select t3."stars"
            from "public"."review" as t3
            where t3."stage_id" = t1."stage_id" and t3."slot" = t1."slot"
            order by t3."id"
            limit 30) as t3),
        ']}}'), ','), ''), ']}')
from (select t1.*
  from pg_catalog.json_to_recordset((select pg_catalog.current_setting('rowgraph.written', true)::json)) as w(c0 text, c1 text)
  cross join lateral (select t1."act_id", t1."stage_id", t1."slot"
    from "public"."performance" as t1
    where t1."stage_id" = w.c0::integer and t1."slot" = w.c1::integer
    limit 1) as t1) as t1;
