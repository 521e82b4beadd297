select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''),
  '],"pageInfo":{"hasPreviousPage":', (pg_catalog.count(*) > 0 and 2 > 0 and (not coalesce((select coalesce((t2."id" > $1::bigint), false)
          from "public"."act" as t2
          order by t2."id"
          limit 1), true)))::text,
  '}}')
from (select t1."id"
  from "public"."act" as t1
  where t1."id" > $1::bigint
  order by t1."id"
  limit 2) as t1;
