select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"),
        ',"festival":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
            from "public"."festival" as t2
            where t2."id" = t1."festival_id"), 'null'),
        '}}'), ','), ''), ']}')
from (select t1."name", t1."festival_id"
  from "public"."stage" as t1
  order by t1."id"
  limit 5) as t1;
