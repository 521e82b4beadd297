with changed as (delete from "public"."review" as t1
  where t1."stars" < $1::integer
  returning t1."id", t1."stage_id", t1."slot", case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $2::int4 then ('rowgraph: delete impacts too many records' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as "(counted)")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"id":', t1."id",
        ',"performance":', coalesce((select pg_catalog.concat('{"act":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t3."name"), '}')
                  from "public"."act" as t3
                  where t3."id" = t2."act_id"), 'null'), '}')
            from "public"."performance" as t2
            where t2."stage_id" = t1."stage_id" and t2."slot" = t1."slot"), 'null'),
        '}'), ','), ''),
  ']}', pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true))
from changed as t1;
