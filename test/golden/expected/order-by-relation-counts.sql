select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."(order 1)"::int8,
                ', ', coalesce(t1."(order 2)"::int8::text, 'null'),
                ', ', t1."id"::int4,
                ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","node":{"stageCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t2."name"), '}}'), ','), '')
          from (select t2."name"
            from "public"."stage" as t2
            left join lateral (select pg_catalog.count(*)
              from "public"."performance" as t3
              where t3."stage_id" = t2."id") as t4("value") on true
            where t2."festival_id" = t1."id"
            order by t4."value" desc, t2."id"
            limit 1) as t2),
        ']}}}'), ','), ''), ']}')
from (select t1."id", coalesce(t6."value", 0) as "(order 1)", t9."value" as "(order 2)"
  from "public"."festival" as t1
  left join (select t5."festival_id", pg_catalog.count(*)
    from "public"."ticket" as t5
    group by t5."festival_id") as t6("key 1", "value") on t6."key 1" = t1."id"
  left join "public"."act" as t7 on t7."id" = t1."opener_id"
  left join lateral (select pg_catalog.count(*)
    from "public"."performance" as t8
    where t8."act_id" = t7."id") as t9("value") on t7."id" is not null
  order by coalesce(t6."value", 0) desc, t9."value" nulls first, t1."id"
  limit 30) as t1;
