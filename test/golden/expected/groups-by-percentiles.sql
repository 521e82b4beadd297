select (select pg_catalog.concat('{"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{"genre":', coalesce(case t3."key 1" when 'drum and bass' then '"DRUM_AND_BASS"' else pg_catalog.to_json(t3."key 1") end, 'null'),
              '},"percentile":{"rating":', coalesce('"' || (t3."value 1" + '0'::float8)::text || '"', 'null'),
              '}}'), ','), ''), ']')
      from (select t2."genre" as "key 1", pg_catalog.percentile_cont($1::float8) within group (order by t2."rating"::float8) as "value 1"
        from "public"."act" as t2
        group by 1
        having pg_catalog.percentile_cont($2::float8) within group (order by t2."fee"::float8) > $3::double precision
        order by pg_catalog.percentile_cont($1::float8) within group (order by t2."rating"::float8) desc nulls last, 1
        limit 30) as t3), '}')),
(select pg_catalog.concat('{"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"count":', t6."value 1", '}'), ','), ''), ']')
      from (select t5."act_id" as "key 1", pg_catalog.count(*) as "value 1"
        from "public"."musician" as t5
        group by 1
        having (case when pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.extract('epoch', t5."born")::float8) <= 9224318015999 or pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.extract('epoch', t5."born")::float8) = 'infinity' then pg_catalog.to_timestamp(pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.extract('epoch', t5."born")::float8)) end at time zone 'UTC' < $5::timestamp without time zone and case when pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.date_part('epoch', t5."joined")) <= 9224318015999 or pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.date_part('epoch', t5."joined")) = 'infinity' then pg_catalog.to_timestamp(pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.date_part('epoch', t5."joined"))) end is not null)
        order by 1
        limit 30) as t6), '}'));
