select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."id"::int8, ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ',' order by t1."(number)" desc), ''),
  '],"pageInfo":{"startCursor":', coalesce('"' || pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to((pg_catalog.array_agg(pg_catalog.concat('[', t1."id"::int8, ']') order by t1."(number)"))[pg_catalog.count(*)], 'UTF8'), 'base64'), E'\n', '') || '"', 'null'),
  ',"endCursor":', coalesce('"' || pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to((pg_catalog.array_agg(pg_catalog.concat('[', t1."id"::int8, ']') order by t1."(number)"))[1], 'UTF8'), 'base64'), E'\n', '') || '"', 'null'),
  '}}')
from (select t1."id", pg_catalog.row_number() over (order by t1."id" desc) as "(number)"
  from "public"."act" as t1
  order by t1."id" desc
  limit 2) as t1;
