with changed as (update "public"."visitor" as t1
  set "email" = $1::text, "phone" = $2::text
  where t1."id" < $3::integer
  returning t1."email")
select pg_catalog.concat('{"affectedCount":', count(*),
  ',"records":[', coalesce(string_agg(pg_catalog.concat('{"email":', pg_catalog.to_json(t1."email"), '}'), ','), ''),
  ']}', case when count(*) > $4::int4 then ('rowgraph: update impacts too many records' || left(count(*)::text, 0))::int4::text else '' end)
from changed as t1;
