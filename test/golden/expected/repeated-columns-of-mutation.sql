with changed as (update "public"."act" as t1
  set "touring" = $1::boolean
  where t1."genre" = 'folk'::public.genre
  returning t1."name")
select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"name":', t1."(json 1)", $2::text, t1."(json 1)",
        '}'), ','), ''),
  '],"affectedCount":', pg_catalog.count(*),
  '}', case when pg_catalog.count(*) > $3::int4 then ('rowgraph: update impacts too many records' || pg_catalog.left(pg_catalog.count(*)::text, 0))::int4::text else '' end)
from (select t1.*, pg_catalog.to_json(t1."name") as "(json 1)"
  from changed as t1 offset 0) as t1;
