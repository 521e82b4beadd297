with changed as (update "public"."act" as t1
  set "touring" = $1::boolean, "tags" = $2::text[], "fee" = $3::numeric(10,2)
  where t1."genre" = 'folk'::public.genre
  returning case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $4::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as "(counted)")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  '}', pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true))
from changed as t1;
