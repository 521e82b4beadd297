select '{"edges":[' || coalesce(string_agg('{"node":{"name":' || pg_catalog.to_json(t1."name")::text
      || ',"opener":' || coalesce((select '{"name":' || pg_catalog.to_json(t2."name")::text || '}'
        from "public"."act" as t2
        where t2."id" = t1."opener_id"), 'null')
      || ',"id":' || t1."id"::text
      || '}}', ','), '') || ']}'
from (select t1."name", t1."opener_id", t1."id"
  from "public"."festival" as t1
  order by t1."id" limit 30) as t1;
