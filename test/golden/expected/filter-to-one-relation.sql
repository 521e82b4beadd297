select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t1."full_name"), '}}'), ','), ''), ']}')
from (select t1."full_name"
  from "public"."musician" as t1
  where (exists (select 1
      from "public"."act" as t2
      where t2."id" = t1."act_id" and (t2."name" = $1::text and t2."genre" = 'drum and bass'::public.genre)) and not exists (select 1
      from "public"."musician" as t3
      where t3."id" = t1."mentor_id"))
  order by t1."id"
  limit 30) as t1;
