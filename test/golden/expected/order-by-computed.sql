select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', coalesce(pg_catalog.to_json(t1."(order 1)"), 'null'),
                  ', ', coalesce(pg_catalog.to_json(t1."(order 2)"), 'null'),
                  ', ', t1."id"::int8,
                  ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ','), ''), ']}')
  from (select t1."id", "public"."_billing"(t1.*) as "(order 1)", t3."value" as "(order 2)"
    from "public"."act" as t1
    left join lateral (select t2."full_name"
      from "public"."_founder"(t1.*) as t2
      where not (t2.* is null)
      limit 1) as t3("value") on true
    order by "public"."_billing"(t1.*), t3."value" desc nulls last, t1."id"
    limit 30) as t1),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', coalesce(pg_catalog.to_json(t4."(order 1)"), 'null'),
                  ', ', coalesce(pg_catalog.to_json(t4."(order 2)"), 'null'),
                  ', ', t4."id"::int4,
                  ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ','), ''), ']}')
  from (select t4."id", t6."value" as "(order 1)", case when t7."id" is not null then "public"."_billing"(t7.*) end as "(order 2)"
    from "public"."festival" as t4
    left join lateral (select pg_catalog.avg(t5."fee")
      from "public"."_acts"(t4.*) as t5) as t6("value") on true
    left join "public"."act" as t7 on t7."id" = t4."opener_id"
    order by t6."value" desc nulls last, case when t7."id" is not null then "public"."_billing"(t7.*) end, t4."id"
    limit 30) as t4);
