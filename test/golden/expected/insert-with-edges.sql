with changed as (insert into "public"."visitor" as t1 ("id", "email")
  values ($1::integer, $2::text), ($3::integer, $4::text)
  returning t1."id")
select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"id":', t1."id"::int4, '}'), ',' order by t1."(number)"), ''),
  '],"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":', t1."id"::int4, '}}'), ',' order by t1."id"), ''),
  ']}')
from (select changed.*, pg_catalog.row_number() over () as "(number)"
  from changed) as t1;
