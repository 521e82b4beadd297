select pg_catalog.concat('{"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{"id":', coalesce(t3."key 2"::int4::text, 'null'),
            ',"price":{"amount":', coalesce('"' || pg_catalog.trim_scale(t3."key 1")::numeric::text || '"', 'null'),
            '}},"count":', t3."value 1",
            '}'), ','), ''), ']')
    from (select (t2."price")."amount" as "key 1", t2."id" as "key 2", pg_catalog.count(*) as "value 1"
      from "public"."log_entry" as t2
      group by 1, 2
      order by 1 desc nulls last, 2
      limit 30) as t3), '}');
