select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ',') filter (where t1."(number)" <= $1::int8), ''),
    '],"pageInfo":{"endCursor":', coalesce('"' || pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to((pg_catalog.array_agg(pg_catalog.concat('[', coalesce(pg_catalog.to_json(t1."(order 1)"), 'null'),
                  ', ', t1."id"::int4,
                  ']')))[least(pg_catalog.count(*), $1::int8)], 'UTF8'), 'base64'), E'\n', '') || '"', 'null'),
    ',"hasNextPage":', (pg_catalog.count(*) > $1::int8)::text,
    ',"hasPreviousPage":', (pg_catalog.count(*) > 0 and $1::int8 > 0 and (exists (select 1
          from "public"."festival" as t2
          left join "public"."act" as t3 on t3."id" = t2."opener_id"
          where t3."name" <= $2::text and ((t3."name" >= $2::text and (t3."name", t2."id") > ($2::text, $3::integer)) or (t3."name" is null)) is not true)))::text,
    '}}')
  from (select t1.*, pg_catalog.row_number() over () as "(number)"
    from (
      (select t1."name", t1."id", t4."name" as "(order 1)"
        from "public"."festival" as t1
        left join "public"."act" as t4 on t4."id" = t1."opener_id"
        where t4."name" >= $2::text and (t4."name", t1."id") > ($2::text, $3::integer)
        order by t4."name", t1."id"
        limit $1::int8 + 1)
      union all
      (select t1."name", t1."id", t4."name" as "(order 1)"
        from "public"."festival" as t1
        left join "public"."act" as t4 on t4."id" = t1."opener_id"
        where t4."name" is null
        order by t1."id"
        limit $1::int8 + 1)) as t1
    limit $1::int8 + 1) as t1),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t5."(order 1)"::int8,
                  ', ', t5."id"::int8,
                  ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ',' order by t5."(number)" desc), ''), ']}')
  from (select t5."id", coalesce(t7."value", 0) as "(order 1)", pg_catalog.row_number() over (order by coalesce(t7."value", 0), t5."id" desc) as "(number)"
    from "public"."act" as t5
    left join (select t6."act_id", pg_catalog.count(*)
      from "public"."performance" as t6
      group by t6."act_id") as t7("key 1", "value") on t7."key 1" = t5."id"
    where ((coalesce(t7."value", 0) = $4::bigint and t5."id" < $5::bigint) or (coalesce(t7."value", 0) > $4::bigint))
    order by coalesce(t7."value", 0), t5."id" desc
    limit $6::int8) as t5);
