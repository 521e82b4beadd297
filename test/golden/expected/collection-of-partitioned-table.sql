select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"day":', pg_catalog.to_json(t1."day"),
        ',"id":', t1."id"::int4,
        ',"amount":', coalesce('"' || t1."amount"::numeric::text || '"', 'null'),
        '}}'), ','), ''), ']}')
from (select t1."day", t1."id", t1."amount"
  from "public"."sale" as t1
  order by t1."day", t1."id"
  limit 30) as t1;
