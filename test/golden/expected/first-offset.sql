select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ',') filter (where t1."(number)" <= 12), ''),
  '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 2)::text,
  '}}')
from (select t1."id", pg_catalog.row_number() over (order by t1."id") as "(number)"
  from "public"."act" as t1
  order by t1."id"
  limit 3
  offset 10) as t1;
