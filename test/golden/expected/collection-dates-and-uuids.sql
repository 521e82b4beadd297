select '{"edges":[' || coalesce(string_agg('{"node":{"id":' || ('"' || t1."id"::text || '"')
      || ',"fullName":' || pg_catalog.to_json(t1."full_name")::text
      || ',"born":' || coalesce(pg_catalog.to_json(t1."born")::text, 'null')
      || ',"joined":' || pg_catalog.to_json(t1."joined")::text
      || '}}', ','), '') || ']}'
from (select t1."id", t1."full_name", t1."born", t1."joined"
  from "public"."musician" as t1
  order by t1."id" limit 30) as t1;
