with changed as (update "public"."review" as t1
  set "words" = $1::text
  where exists (select 1
    from "public"."performance" as t2
    where t2."stage_id" = t1."stage_id" and t2."slot" = t1."slot" and exists (select 1
      from "public"."act" as t3
      where t3."id" = t2."act_id" and t3."touring" = false))
  returning case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $2::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as "(counted)")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  '}', pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true))
from changed as t1;

with changed as (delete from "public"."stage" as t1
  where (not exists (select 1
      from "public"."performance" as t2
      where t2."stage_id" = t1."id") and exists (select 1
      from "public"."festival" as t3
      where t3."id" = t1."festival_id" and t3."name" = $1::text))
  returning t1."name", case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $2::int4 then ('rowgraph: delete-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as "(counted)")
select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"name":', pg_catalog.to_json(t1."name"), '}'), ','), ''),
  ']}', pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true))
from changed as t1;
