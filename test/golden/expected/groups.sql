select pg_catalog.concat('{"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{"actId":', coalesce('"' || t3."key 1"::int8::text || '"', 'null'),
            ',"joined":', coalesce(pg_catalog.to_json(t3."key 2"), 'null'),
            ',"born":', coalesce(pg_catalog.to_json(t3."key 3"), 'null'),
            '},"count":', t3."value 1",
            ',"min":{"joined":', coalesce(pg_catalog.to_json(t3."value 2"), 'null'),
            '}', $1::text,
            '{"born":', coalesce(pg_catalog.to_json(t3."value 3"), 'null'),
            '}}'), ','), ''), ']')
    from (select t2."act_id" as "key 1", case when t2."joined" < '4712-01-01 00:00+00 BC' and t2."joined" > '-infinity' then '4714-11-24 00:00+00 BC' else pg_catalog.date_trunc('month', t2."joined", $2::text) end as "key 2", case when t2."born" < '4712-01-01 BC' and t2."born" > '-infinity' then '4714-11-24 BC' when t2."born" > '294276-12-31' and t2."born" < 'infinity' then '294277-01-01' else pg_catalog.date_trunc('year', t2."born"::timestamp)::date end as "key 3", pg_catalog.count(*) as "value 1", pg_catalog.min(t2."joined") as "value 2", pg_catalog.max(t2."born") as "value 3"
      from "public"."musician" as t2
      where t2."born" is not null
      group by 1, 2, 3
      having (pg_catalog.count(*) > $3::integer and pg_catalog.max(t2."born") < $4::date)
      order by pg_catalog.count(*) desc nulls last, 2 desc nulls last, 1, 3
      limit 20
      offset 5) as t3), '}');
