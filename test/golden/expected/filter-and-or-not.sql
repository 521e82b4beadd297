select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."act" as t1
  where (t1."touring" = true and (t1."genre" = 'folk'::public.genre or t1."fee" < $1::numeric(10,2)) and not (t1."name" = $2::text))
  order by t1."id"
  limit 30) as t1;
