select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."id"::int4, ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","node":{"id":', t1."id"::int4,
        '}}'), ','), ''), ']'),
coalesce('"' || pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to((pg_catalog.array_agg(pg_catalog.concat('[', t1."id"::int4, ']')))[pg_catalog.count(*)], 'UTF8'), 'base64'), E'\n', '') || '"', 'null')
from (select t1."id"
  from "public"."song" as t1
  where t1."id" > $1::integer and t1."id" > $2::integer
  order by t1."id"
  limit 5) as t1;
