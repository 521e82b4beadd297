select (select pg_catalog.concat('{"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{"genre":', coalesce(case t3."key 1" when 'drum and bass' then '"DRUM_AND_BASS"' else pg_catalog.to_json(t3."key 1") end, 'null'),
              ',"touring":null},"avg":{"fee":', coalesce('"' || (pg_catalog.trim_scale(t3."value 1") + 0.0)::text || '"', 'null'),
              '}}'), ','), ''), ']')
      from (select t2."genre" as "key 1", pg_catalog.avg(t2."fee") as "value 1"
        from "public"."act" as t2
        group by 1
        having pg_catalog.sum(t2."fee") >= $1::numeric
        order by 1
        limit $2::int8) as t3), '}')),
(select pg_catalog.concat('{"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{"fee":', coalesce('"' || pg_catalog.trim_scale(t6."key 1")::numeric::text || '"', 'null'),
              '},"count":', t6."value 1",
              '}'), ','), ''), ']')
      from (select case when t5."fee" < 0 then t5."fee" - pg_catalog.mod(t5."fee", $3::numeric) - case when pg_catalog.mod(t5."fee", $3::numeric) = 0 then 0 else $3::numeric end else t5."fee" - pg_catalog.mod(t5."fee", $3::numeric) end as "key 1", pg_catalog.count(*) as "value 1"
        from "public"."act" as t5
        group by 1
        order by 1
        limit 30) as t6), '}'));
