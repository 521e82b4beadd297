with changed as (update "public"."act" as t1
  set "touring" = $1::boolean, "fee" = t1."fee" + $2::numeric, "founded" = t1."founded" + $3::int2
  where t1."id" = $4::bigint
  returning pg_catalog.concat('{"records":[{"fee":', coalesce('"' || t1."fee"::numeric::text || '"', 'null'), '}]}') as "response")
select coalesce((select "response"
    from changed), '{"records":[]}');

with changed as (update "public"."stage" as t1
  set "capacity" = t1."capacity" + $1::int4
  where exists (select 1
    from "public"."festival" as t2
    where t2."id" = t1."festival_id" and t2."name" = $2::text)
  returning case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $3::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as "(counted)")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  '}', pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true))
from changed as t1;
