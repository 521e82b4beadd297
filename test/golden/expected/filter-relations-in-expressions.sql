select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ','), ''), ']}')
from (select t1."name"
  from "public"."act" as t1
  where (t1."touring" = true or (exists (select 1
        from "public"."musician" as t2
        where t2."act_id" = t1."id" and (t2."born" is null or exists (select 1
            from "public"."musician" as t3
            where t3."id" = t2."mentor_id" and not (exists (select 1
                from "public"."musician" as t4
                where t4."id" = t3."mentor_id" and t4."full_name" = $1::text
                offset 0))
            offset 0))) and not exists (select 1
        from "public"."musician" as t5
        where t5."act_id" = t1."id" and (exists (select 1
            from "public"."musician" as t6
            where t6."id" = t5."mentor_id" and t6."full_name" like $2::text
            offset 0)) is not true)))
  order by t1."id"
  limit 30) as t1;
