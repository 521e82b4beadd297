select '{"edges":[' || coalesce(string_agg('{"node":{"name":' || pg_catalog.to_json(t1."name")::text
      || ',"id":' || ('"' || t1."id"::text || '"')
      || '},"cursor":' || ('"' || replace(encode(convert_to('[' || t1."id"::text || ']', 'UTF8'), 'base64'), E'\n', '') || '"')
      || '}', ',') filter (where t1."(number)" <= 1), '')
  || '],"pageInfo":{"hasNextPage":' || (count(*) > 1)::text
  || '}}'
from (select t1."name", t1."id", row_number() over (order by t1."id") as "(number)"
  from "public"."act" as t1
  order by t1."id" limit 2) as t1;
