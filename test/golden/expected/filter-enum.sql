select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"genre":', case t1."genre" when 'drum and bass' then '"DRUM_AND_BASS"' else pg_catalog.to_json(t1."genre") end, '}}'), ','), ''), ']}')
from (select t1."genre"
  from "public"."act" as t1
  where t1."genre" = any($1::public.genre[])
  order by t1."id"
  limit 30) as t1;
