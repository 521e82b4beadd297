select pg_catalog.concat('{"edges":[', coalesce(string_agg(pg_catalog.concat('{"cursor":"', replace(encode(convert_to(pg_catalog.concat('[', t1."id", ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ',' order by t1."(number)" desc), ''),
  '],"pageInfo":{"startCursor":', coalesce('"' || replace(encode(convert_to((pg_catalog.array_agg(pg_catalog.concat('[', t1."id", ']') order by t1."(number)"))[count(*)], 'UTF8'), 'base64'), E'\n', '') || '"', 'null'),
  ',"endCursor":', coalesce('"' || replace(encode(convert_to((pg_catalog.array_agg(pg_catalog.concat('[', t1."id", ']') order by t1."(number)"))[1], 'UTF8'), 'base64'), E'\n', '') || '"', 'null'),
  '}}')
from (select t1."id", row_number() over (order by t1."id" desc) as "(number)"
  from "public"."act" as t1
  order by t1."id" desc limit 2) as t1;
