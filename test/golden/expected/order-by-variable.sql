select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."act" as t1
  order by t1."fee", t1."id"
  limit 30) as t1;
