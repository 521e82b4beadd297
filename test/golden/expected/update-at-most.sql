with changed as (update "public"."act" as t1
  set "touring" = $1::boolean, "tags" = $2::text[], "fee" = $3::numeric(10,2)
  where t1."genre" = 'folk'::public.genre
  returning 1)
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  '}', case when pg_catalog.count(*) > $4::int4 then ('rowgraph: update impacts too many records' || pg_catalog.left(pg_catalog.count(*)::text, 0))::int4::text else '' end)
from changed as t1;
