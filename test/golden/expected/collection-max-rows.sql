select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ','), ''), ']}')
from (select t1."name"
  from "public"."stage" as t1
  order by t1."id"
  limit 5) as t1;
