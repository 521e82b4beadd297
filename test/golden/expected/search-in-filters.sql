select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."act" as t1
  where (t1."name" = $1::text or exists (select 1
      from "public"."song" as t2
      where t2."act_id" = t1."id" and t2."words" operator(pg_catalog.@@) pg_catalog.phraseto_tsquery('pg_catalog.english'::pg_catalog.regconfig, $2::text)))
  order by t1."id"
  limit 30) as t1;
