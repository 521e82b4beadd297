with changed as (insert into "public"."visitor" as t1 ("id", "email", "phone")
  values ($1::integer, $2::text, default), ($3::integer, $4::text, $5::text)
  returning t1."id")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"nodeId":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('["public", "visitor", ', t1."id"::int4, ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ','), ''),
  ']}')
from changed as t1;
