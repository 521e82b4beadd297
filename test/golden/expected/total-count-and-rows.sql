select '{"totalCount":' || (select count(*)::text
  from "public"."act" as t2)
  || ',"edges":[' || coalesce(string_agg('{"node":{"name":' || pg_catalog.to_json(t1."name")::text || '}}', ','), '')
  || ']}'
from (select t1."name"
  from "public"."act" as t1
  order by t1."id" limit 1) as t1;
