select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."id"::int8, ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","node":{"id":"', t1."id"::int8,
        '","name":', pg_catalog.to_json(t1."name"),
        '}}'), ','), ''), ']}')
from (select t1."id", t1."name"
  from "public"."act" as t1
  order by t1."id"
  limit 30) as t1;
