with changed as (insert into "public"."visitor" as t1 ("id", "email", "phone")
  values ($1::integer, $2::text, default), ($3::integer, $4::text, $5::text)
  returning t1."id")
select pg_catalog.concat('{"affectedCount":', count(*),
  ',"records":[', coalesce(string_agg(pg_catalog.concat('{"nodeId":"', replace(encode(convert_to(pg_catalog.concat('["public", "visitor", ', t1."id", ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ','), ''),
  ']}')
from changed as t1;
