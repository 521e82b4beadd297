select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"),
        ',"opener":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
            from "public"."act" as t2
            where t2."id" = t1."opener_id"), 'null'),
        ',"closer":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t3."name"), '}')
            from "public"."act" as t3
            where t3."id" = t1."closer_id"), 'null'),
        '}}'), ','), ''), ']}')
from (select t1."name", t1."opener_id", t1."closer_id"
  from "public"."festival" as t1
  order by t1."id"
  limit 30) as t1;
