select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ','), ''), ']}')
from (select t1."name"
  from "public"."stage" as t1
  join "public"."festival" as t2 on t2."id" = t1."festival_id"
  left join "public"."act" as t3 on t3."id" = t2."opener_id"
  order by t3."name", t2."name", t1."id"
  limit 3) as t1;
