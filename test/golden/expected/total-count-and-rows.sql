select pg_catalog.concat('{"totalCount":', (select pg_catalog.count(*)
    from "public"."act" as t2),
  ',"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ','), ''),
  ']}')
from (select t1."name"
  from "public"."act" as t1
  order by t1."id"
  limit 1) as t1;
