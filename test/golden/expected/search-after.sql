select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":', t1."id"::int4, '}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."song" as t1
  where t1."words" operator(pg_catalog.@@) pg_catalog.plainto_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text) and ((pg_catalog.ts_rank(t1."words", pg_catalog.plainto_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text)) = $2::real and t1."id" > $3::integer) or (pg_catalog.ts_rank(t1."words", pg_catalog.plainto_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text)) < $2::real))
  order by pg_catalog.ts_rank(t1."words", pg_catalog.plainto_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text)) desc, t1."id"
  limit 30) as t1;
