select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"stars":', t1."stars"::int4,
        ',"performance":', coalesce((select pg_catalog.concat('{"slot":', t2."slot"::int4,
              ',"reviewCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"words":', coalesce(pg_catalog.to_json(t3."words"), 'null'), '}}'), ','), '')
                from (select t3."words"
                  from "public"."review" as t3
                  where t3."stage_id" = t2."stage_id" and t3."slot" = t2."slot"
                  order by t3."id"
                  limit 30) as t3),
              ']}}')
            from "public"."performance" as t2
            where t2."stage_id" = t1."stage_id" and t2."slot" = t1."slot"), 'null'),
        '}}'), ','), ''), ']}')
from (select t1."stars", t1."stage_id", t1."slot"
  from "public"."review" as t1
  order by t1."id"
  limit 30) as t1;
