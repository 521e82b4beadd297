select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t1."full_name"), '}}'), ','), ''), ']}')
from (select t1."full_name"
  from "public"."musician" as t1
  where (exists (select 1
      from (with recursive ascent as (select t3."mentor_id", t3."id", t3."full_name", 1 as "(depth)"
          from "public"."musician" as t3
          where t3."id" = t1."mentor_id" and (t3."id" = t1."id") is not true
          union all
          select t4."mentor_id", t4."id", t4."full_name", ascent."(depth)" + 1 as "(depth)"
          from ascent
          join "public"."musician" as t4 on t4."id" = ascent."mentor_id"
          where ascent."(depth)" < 100 and (t4."id" = t1."id") is not true) cycle "id" set "(again)" using "(path)",
        lineage as (select *
          from ascent
          where not "(again)")
        select *
        from lineage) as t2
      where t2."full_name" = $1::text) and (select pg_catalog.count(*) >= $2::integer
      from (select 1
        from (with recursive lineage as (select t6."mentor_id", t6."id", t6."born", 1 as "(depth)"
            from "public"."musician" as t6
            where t1."id" = t6."mentor_id" and (t6."id" = t1."id") is not true
            union all
            select t7."mentor_id", t7."id", t7."born", lineage."(depth)" + 1 as "(depth)"
            from lineage
            join "public"."musician" as t7 on lineage."id" = t7."mentor_id"
            where lineage."(depth)" < 100 and (t7."id" = t1."id") is not true)
          select *
          from lineage) as t5
        where t5."born" > $3::date
        limit greatest($2::integer, 0)::bigint + 1) as t8))
  order by t1."id"
  limit 30) as t1;
