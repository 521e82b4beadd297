select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t1."full_name"),
        ',"ancestors":', (with recursive ascent as (select t2."mentor_id", t2."id", t2."full_name", 1 as "(depth)"
            from "public"."musician" as t2
            where t2."id" = t1."mentor_id" and (t2."id" = t1."id") is not true
            union all
            select t3."mentor_id", t3."id", t3."full_name", ascent."(depth)" + 1 as "(depth)"
            from ascent
            join "public"."musician" as t3 on t3."id" = ascent."mentor_id"
            where ascent."(depth)" < 100 and (t3."id" = t1."id") is not true) cycle "id" set "(again)" using "(path)",
          lineage as (select *
            from ascent
            where not "(again)")
          select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"depth":', t4."(depth)"::int4,
                  ',"node":{"fullName":', pg_catalog.to_json(t4."full_name"),
                  '}}'), ','), ''), ']}')
          from (select t4."(depth)", t4."full_name"
            from lineage as t4
            order by t4."(depth)", t4."id"
            limit 30) as t4),
        ',"descendants":', (with recursive lineage as (select t5."mentor_id", t5."id", t5."born", 1 as "(depth)"
            from "public"."musician" as t5
            where t1."id" = t5."mentor_id" and (t5."id" = t1."id") is not true and coalesce($1::integer, 100) > 0
            union all
            select t6."mentor_id", t6."id", t6."born", lineage."(depth)" + 1 as "(depth)"
            from lineage
            join "public"."musician" as t6 on lineage."id" = t6."mentor_id"
            where lineage."(depth)" < coalesce($1::integer, 100) and (t6."id" = t1."id") is not true)
          select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t7."(order 1)"::int4,
                          ', ', pg_catalog.to_json(t7."id"),
                          ']'), 'UTF8'), 'base64'), E'\n', ''),
                  '","node":{"id":"', t7."id"::uuid,
                  '"}}'), ',') filter (where t7."(number)" <= 3), ''),
            '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 3)::text,
            '}}')
          from (select t7."id", t7."(depth)" as "(order 1)", pg_catalog.row_number() over (order by t7."(depth)", t7."id") as "(number)"
            from lineage as t7
            where t7."born" is not null
            order by t7."(depth)", t7."id"
            limit 4) as t7),
        '}}'), ','), ''), ']}')
from (select t1."full_name", t1."mentor_id", t1."id"
  from "public"."musician" as t1
  order by t1."id"
  limit 5) as t1;
