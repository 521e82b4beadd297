select '{"edges":[' || coalesce(string_agg('{"node":{"name":' || pg_catalog.to_json(t1."name")::text
      || ',"festival":' || coalesce((select '{"name":' || pg_catalog.to_json(t2."name")::text || '}'
        from "public"."festival" as t2
        where t2."id" = t1."festival_id"), 'null')
      || '}}', ','), '') || ']}'
from (select t1."name", t1."festival_id"
  from "public"."stage" as t1
  order by t1."id" limit 5) as t1;
