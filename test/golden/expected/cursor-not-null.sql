select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', pg_catalog.to_json(t1."name"),
                ', ', t1."id"::int8,
                ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ','), ''), ']}')
from (select t1."name", t1."id"
  from "public"."act" as t1
  where (t1."name", t1."id") > ($1::text, $2::bigint)
  order by t1."name", t1."id"
  limit 2) as t1;
