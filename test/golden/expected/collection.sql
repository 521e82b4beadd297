select '{"edges":[' || coalesce(string_agg('{"cursor":' || ('"' || replace(encode(convert_to('[' || t1."id"::text || ']', 'UTF8'), 'base64'), E'\n', '') || '"')
      || ',"node":{"id":' || ('"' || t1."id"::text || '"')
      || ',"name":' || pg_catalog.to_json(t1."name")::text
      || '}}', ','), '') || ']}'
from (select t1."id", t1."name"
  from "public"."act" as t1
  order by t1."id" limit 30) as t1;
