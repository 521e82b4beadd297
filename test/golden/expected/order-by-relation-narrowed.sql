select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ','), ''),
    '],"pageInfo":{"hasPreviousPage":', (pg_catalog.count(*) > 0 and 10 > 0 and (exists (select 1
          from "public"."festival" as t2
          left join "public"."act" as t3 on t3."id" = t2."opener_id"
          where t2."opener_id" = any($1::bigint[]) and (t3."name" >= $2::text and ((t3."name" = $2::text and t2."id" > $3::integer) or (t3."name" < $2::text) or (t3."name" is null)) is not true))))::text,
    '}}')
  from (select t1."name"
    from "public"."festival" as t1
    left join "public"."act" as t4 on t4."id" = t1."opener_id"
    where t1."opener_id" = any($1::bigint[]) and ((t4."name" = $2::text and t1."id" > $3::integer) or (t4."name" < $2::text) or (t4."name" is null))
    order by t4."name" desc nulls last, t1."id"
    limit 10) as t1),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t5."name"), '}}'), ','), ''), ']}')
  from (select t5."name"
    from "public"."festival" as t5
    left join "public"."act" as t6 on t6."id" = t5."opener_id"
    where (t5."opener_id" >= $4::bigint and t5."opener_id" < $5::bigint)
    order by t6."name" nulls first, t5."id"
    limit 10) as t5),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t7."name"), '}}'), ','), ''), ']}')
  from (select t7.*
    from (
      (select t7."name"
        from "public"."festival" as t7
        left join "public"."act" as t8 on t8."id" = t7."opener_id"
        where t7."opener_id" >= $6::bigint and t8."name" is null
        order by t7."id"
        limit 10)
      union all
      (select t7."name"
        from "public"."festival" as t7
        left join "public"."act" as t8 on t8."id" = t7."opener_id"
        where t7."opener_id" >= $6::bigint and t8."name" is not null
        order by t8."name", t7."id"
        limit 10)) as t7
    limit 10) as t7);
