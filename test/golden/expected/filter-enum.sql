select '{"edges":[' || coalesce(string_agg('{"node":{"genre":' || case t1."genre" when 'drum and bass' then '"DRUM_AND_BASS"' else pg_catalog.to_json(t1."genre")::text end || '}}', ','), '') || ']}'
from (select t1."genre"
  from "public"."act" as t1
  where t1."genre" = any($1::public.genre[])
  order by t1."id" limit 30) as t1;
