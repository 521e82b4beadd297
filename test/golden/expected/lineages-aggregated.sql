select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"descendants":', (with recursive lineage as (select t2."mentor_id", t2."id", t2."full_name", t2."born", t2."joined", t2."act_id", 1 as "(depth)"
            from "public"."musician" as t2
            where t1."id" = t2."mentor_id" and (t2."id" = t1."id") is not true
            union all
            select t3."mentor_id", t3."id", t3."full_name", t3."born", t3."joined", t3."act_id", lineage."(depth)" + 1 as "(depth)"
            from lineage
            join "public"."musician" as t3 on lineage."id" = t3."mentor_id"
            where lineage."(depth)" < 3 and (t3."id" = t1."id") is not true)
          select pg_catalog.concat('{"aggregate":', (select pg_catalog.concat('{"count":', pg_catalog.count(*),
                ',"max":{"born":', coalesce(pg_catalog.to_json(pg_catalog.max(t5."born")), 'null'),
                '}}')
              from lineage as t5),
            ',"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t4."full_name"), '}}'), ','), ''),
            ']}')
          from (select t4."full_name"
            from lineage as t4
            order by t4."(depth)", t4."id"
            limit 30) as t4), '}}'), ','), ''), ']}')
from (select t1."mentor_id", t1."id"
  from "public"."musician" as t1
  order by t1."id"
  limit 5) as t1;
