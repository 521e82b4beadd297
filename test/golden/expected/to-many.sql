select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"),
        ',"stageCollection":', (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t2."name"), '}}'), ',') filter (where t2."(number)" <= 3), ''),
            '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 3)::text,
            '}}')
          from (select t2."name", pg_catalog.row_number() over (order by t2."capacity" desc nulls last, t2."id") as "(number)"
            from "public"."stage" as t2
            where t2."festival_id" = t1."id" and t2."capacity" > $1::integer
            order by t2."capacity" desc nulls last, t2."id"
            limit 4) as t2),
        '}}'), ','), ''), ']}')
from (select t1."name", t1."id"
  from "public"."festival" as t1
  order by t1."id"
  limit 30) as t1;
