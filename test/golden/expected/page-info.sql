select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."id"::int8, ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ',') filter (where t1."(number)" <= 2), ''),
  '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 2)::text,
  ',"hasPreviousPage":', 'false',
  ',"startCursor":', case when 2 > 0 then coalesce('"' || pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to((pg_catalog.array_agg(pg_catalog.concat('[', t1."id"::int8, ']')))[1], 'UTF8'), 'base64'), E'\n', '') || '"', 'null') else 'null' end,
  ',"endCursor":', coalesce('"' || pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to((pg_catalog.array_agg(pg_catalog.concat('[', t1."id"::int8, ']')))[least(pg_catalog.count(*), 2)], 'UTF8'), 'base64'), E'\n', '') || '"', 'null'),
  '}}')
from (select t1."id", pg_catalog.row_number() over (order by t1."id") as "(number)"
  from "public"."act" as t1
  order by t1."id"
  limit 3) as t1;
