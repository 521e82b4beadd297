select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."act" as t1
  where (t1."name" ^@ $1::text and t1."name" like $2::text and t1."name" ilike $3::text and t1."name" ~ $4::text and t1."name" ~* $5::text)
  order by t1."id"
  limit 30) as t1;
