select '{"edges":[' || coalesce(string_agg('{"cursor":' || ('"' || replace(encode(convert_to('[' || pg_catalog.to_json(t1."name")::text
              || ', ' || t1."id"::text
              || ']', 'UTF8'), 'base64'), E'\n', '') || '"') || '}', ','), '') || ']}'
from (select t1."name", t1."id"
  from "public"."act" as t1
  where (t1."name", t1."id") > ($1::text, $2::bigint)
  order by t1."name", t1."id" limit 2) as t1;
