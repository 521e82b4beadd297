select pg_catalog.concat('{"totalCount":', (select pg_catalog.count(*)
    from "public"."festival" as t2
    where ((select pg_catalog.count(*) >= $1::integer and pg_catalog.count(*) = any($2::integer[])
        from (select 1
          from "public"."stage" as t3
          where t3."festival_id" = t2."id" and t3."capacity" > $3::integer
          limit greatest($1::integer, (select pg_catalog.max(number) from pg_catalog.unnest($2::integer[]) as number), 0)::bigint + 1) as t4) and (select pg_catalog.count(*) > $4::integer
        from (select 1
          from "public"."_acts"(t2.*) as t5
          limit greatest($4::integer, 0)::bigint + 1) as t6))),
  ',"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ','), ''),
  ']}')
from (select t1."name"
  from "public"."festival" as t1
  where ((select pg_catalog.count(*) >= $1::integer and pg_catalog.count(*) = any($2::integer[])
      from (select 1
        from "public"."stage" as t7
        where t7."festival_id" = t1."id" and t7."capacity" > $3::integer
        limit greatest($1::integer, (select pg_catalog.max(number) from pg_catalog.unnest($2::integer[]) as number), 0)::bigint + 1) as t8) and (select pg_catalog.count(*) > $4::integer
      from (select 1
        from "public"."_acts"(t1.*) as t9
        limit greatest($4::integer, 0)::bigint + 1) as t10))
  order by t1."id"
  limit 30) as t1;
