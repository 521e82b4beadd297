select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"),
        ',"id":"', t1."id"::int8,
        '"},"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."id"::int8, ']'), 'UTF8'), 'base64'), E'\n', ''),
        '"}'), ',') filter (where t1."(number)" <= 1), ''),
  '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 1)::text,
  '}}')
from (select t1."name", t1."id", pg_catalog.row_number() over (order by t1."id") as "(number)"
  from "public"."act" as t1
  order by t1."id"
  limit 2) as t1;
