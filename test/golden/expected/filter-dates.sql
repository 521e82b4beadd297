select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":', t1."id"::int4, '}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."festival" as t1
  where (t1."starts" >= $1::date and t1."gates" < $2::time without time zone)
  order by t1."id"
  limit 30) as t1;
