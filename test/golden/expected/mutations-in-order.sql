insert into "public"."visitor" as t1 ("id", "email")
values ($1::integer, $2::text)
returning '{"affectedCount":1}';

with changed as (update "public"."visitor" as t1
  set "phone" = $1::text
  where t1."id" = $2::integer
  returning t1."phone")
select pg_catalog.concat('{"records":[', coalesce(string_agg(pg_catalog.concat('{"telephone":', coalesce(pg_catalog.to_json(t1."phone"), 'null'), '}'), ','), ''),
  ']}', case when count(*) > $3::int4 then ('rowgraph: update impacts too many records' || left(count(*)::text, 0))::int4::text else '' end)
from changed as t1;

with changed as (delete from "public"."visitor" as t1
  where t1."id" = $1::integer
  returning 1)
select pg_catalog.concat('{"affectedCount":', count(*),
  '}', case when count(*) > $2::int4 then ('rowgraph: delete impacts too many records' || left(count(*)::text, 0))::int4::text else '' end)
from changed as t1;
