select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."id"::int8, ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","node":{"id":"', t1."id"::int8,
        '"}}'), ',' order by t1."(number)" desc) filter (where t1."(number)" <= 2), ''),
  '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 0 and 2 > 0 and (not coalesce((select coalesce((t2."id" < $1::bigint), false)
          from "public"."act" as t2
          order by t2."id" desc
          limit 1), true)))::text,
  ',"hasPreviousPage":', (pg_catalog.count(*) > 2)::text,
  '}}')
from (select t1."id", pg_catalog.row_number() over (order by t1."id" desc) as "(number)"
  from "public"."act" as t1
  where t1."id" < $1::bigint
  order by t1."id" desc
  limit 3) as t1;
