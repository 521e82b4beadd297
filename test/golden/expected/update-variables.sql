with changed as (update "public"."visitor" as t1
  set "email" = $1::text, "phone" = $2::text
  where t1."id" < $3::integer
  returning t1."email")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"email":', pg_catalog.to_json(t1."email"), '}'), ','), ''),
  ']}', case when pg_catalog.count(*) > $4::int4 then ('rowgraph: update impacts too many records' || pg_catalog.left(pg_catalog.count(*)::text, 0))::int4::text else '' end)
from changed as t1;
