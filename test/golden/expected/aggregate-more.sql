select (select pg_catalog.concat('{"aggregate":{"countDistinct":{"genre":', pg_catalog.count(distinct t1."genre"),
    ',"name":', pg_catalog.count(distinct t1."name"),
    '},"stddev":{"fee":', coalesce('"' || (pg_catalog.trim_scale(pg_catalog.stddev(t1."fee")) + 0.0)::text || '"', 'null'),
    ',"founded":', coalesce('"' || (pg_catalog.trim_scale(pg_catalog.stddev(t1."founded")) + 0.0)::text || '"', 'null'),
    '},"variance":{"rating":', coalesce('"' || (pg_catalog.trim_scale(pg_catalog.variance(t1."rating"::numeric)) + 0.0)::text || '"', 'null'),
    '},"boolAnd":{"touring":', coalesce(pg_catalog.bool_and(t1."touring")::text, 'null'),
    '},"boolOr":{"touring":', coalesce(pg_catalog.bool_or(t1."touring")::text, 'null'),
    '}', $1::text,
    '{"fee":', coalesce('"' || (pg_catalog.percentile_cont($2::float8) within group (order by t1."fee"::float8) + '0'::float8)::text || '"', 'null'),
    ',"rating":', coalesce('"' || (pg_catalog.percentile_cont($2::float8) within group (order by t1."rating"::float8) + '0'::float8)::text || '"', 'null'),
    '}}}')
  from "public"."act" as t1
  where t1."founded" > $3::smallint),
(select pg_catalog.concat('{"aggregate":{"percentile":{"born":', coalesce(pg_catalog.to_json(case when pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.extract('epoch', t2."born")::float8) <= 9224318015999 or pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.extract('epoch', t2."born")::float8) = 'infinity' then pg_catalog.to_timestamp(pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.extract('epoch', t2."born")::float8)) end at time zone 'UTC'), 'null'),
    ',"joined":', coalesce(pg_catalog.to_json(case when pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.date_part('epoch', t2."joined")) <= 9224318015999 or pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.date_part('epoch', t2."joined")) = 'infinity' then pg_catalog.to_timestamp(pg_catalog.percentile_cont($4::float8) within group (order by pg_catalog.date_part('epoch', t2."joined"))) end), 'null'),
    '}}}')
  from "public"."musician" as t2);
