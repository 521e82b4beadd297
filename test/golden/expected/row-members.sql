select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', coalesce(pg_catalog.to_json(t1."(order 1)"), 'null'),
                ', ', coalesce(pg_catalog.to_json(t1."tag"::text), 'null'),
                ', ', t1."id"::int4,
                ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","node":{"tag":', coalesce((select pg_catalog.concat('{"id":', coalesce(t2."id"::int4::text, 'null'), '}')
            from (select (t1."tag").*) as t2
            where t1."tag" is distinct from null), 'null'),
        '}}'), ','), ''),
  '],"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{"tag":{"id":', coalesce(t5."key 1"::int4::text, 'null'),
            '},"price":{"amount":', coalesce('"' || pg_catalog.trim_scale(t5."key 2")::numeric::text || '"', 'null'),
            '}},"count":', t5."value 1",
            '}'), ','), ''), ']')
    from (select (case when (t3."tag")."id"::int8 < 0 then greatest((t3."tag")."id"::int8 - pg_catalog.mod((t3."tag")."id"::int8, $1::int8) - case when pg_catalog.mod((t3."tag")."id"::int8, $1::int8) = 0 then 0 else $1::int8 end, -2147483648) else (t3."tag")."id"::int8 - pg_catalog.mod((t3."tag")."id"::int8, $1::int8) end)::int4 as "key 1", case when pg_catalog.abs((t3."price")."amount") >= 'infinity' then (t3."price")."amount" when (t3."price")."amount" < 0 then (t3."price")."amount" - pg_catalog.mod((t3."price")."amount", $2::numeric) - case when pg_catalog.mod((t3."price")."amount", $2::numeric) = 0 then 0 else $2::numeric end else (t3."price")."amount" - pg_catalog.mod((t3."price")."amount", $2::numeric) end as "key 2", pg_catalog.count(*) as "value 1"
      from "public"."log_entry" as t3
      where ((t3."tag")."id" = any($3::integer[]) and ((t3."tag")."price")."amount" > $4::numeric and not ((case when (t3."tag")."former" is not null then (select case when pg_catalog.bool_or((t4."element")."currency" = $5::text) then true when pg_catalog.count(*) = pg_catalog.count((t4."element")."currency" = $5::text) then false end
              from (select pg_catalog.unnest((t3."tag")."former") as "element") as t4) end)))
      group by 1, 2
      order by 1, 2
      limit 30) as t5),
  '}')
from (select t1."tag", t1."id", ((t1."tag")."price")."amount" as "(order 1)"
  from "public"."log_entry" as t1
  where ((t1."tag")."id" = any($3::integer[]) and ((t1."tag")."price")."amount" > $4::numeric and not ((case when (t1."tag")."former" is not null then (select case when pg_catalog.bool_or((t6."element")."currency" = $5::text) then true when pg_catalog.count(*) = pg_catalog.count((t6."element")."currency" = $5::text) then false end
          from (select pg_catalog.unnest((t1."tag")."former") as "element") as t6) end)))
  order by ((t1."tag")."price")."amount" desc nulls last, t1."tag", t1."id"
  limit 30) as t1;
