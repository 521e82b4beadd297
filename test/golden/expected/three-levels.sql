select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"stageCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"performanceCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"act":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t4."name"), '}')
                            from "public"."act" as t4
                            where t4."id" = t3."act_id"), 'null'), '}}'), ','), '')
                  from (select t3."act_id"
                    from "public"."performance" as t3
                    where t3."stage_id" = t2."id"
                    order by t3."stage_id", t3."slot"
                    limit 30) as t3), ']}}}'), ','), '')
          from (select t2."id"
            from "public"."stage" as t2
            where t2."festival_id" = t1."id"
            order by t2."id"
            limit 5) as t2), ']}}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."festival" as t1
  order by t1."id"
  limit 30) as t1;
