select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ','), ''), ']}')
from (select t1."name"
  from "public"."act" as t1
  where ((exists (select 1
        from "public"."musician" as t2
        where t2."act_id" = t1."id" and t2."born" > $1::date) and not exists (select 1
        from "public"."musician" as t3
        where t3."act_id" = t1."id" and (t3."full_name" like $2::text) is not true) and not exists (select 1
        from "public"."musician" as t4
        where t4."act_id" = t1."id" and exists (select 1
          from "public"."musician" as t5
          where t5."id" = t4."mentor_id" and t5."full_name" = $3::text))) and (exists (select 1
        from "public"."_founder"(t1.*) as t6
        where not (t6.* is null) and t6."born" is not null) or not (exists (select 1
          from "public"."performance" as t7
          where t7."act_id" = t1."id"))))
  order by t1."id"
  limit 30) as t1;
