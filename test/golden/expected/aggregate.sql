select pg_catalog.concat('{"aggregate":{"count":', pg_catalog.count(*),
  ',"sum":{"fee":', coalesce('"' || (pg_catalog.trim_scale(pg_catalog.sum(t1."fee")) + 0.0)::text || '"', 'null'),
  ',"founded":', coalesce('"' || pg_catalog.sum(t1."founded")::text || '"', 'null'),
  '},"avg":{"rating":', coalesce('"' || (pg_catalog.trim_scale(pg_catalog.avg(t1."rating"::numeric)) + case when pg_catalog.scale(pg_catalog.avg(t1."rating"::numeric)) > 0 then 0.0 else 0 end)::text || '"', 'null'),
  '},"min":{"name":', coalesce(pg_catalog.to_json(pg_catalog.min(t1."name")), 'null'),
  ',"founded":', coalesce(pg_catalog.min(t1."founded")::int2::text, 'null'),
  '},"max":{"name":', coalesce(pg_catalog.to_json(pg_catalog.max(t1."name")), 'null'),
  ',"rating":', coalesce('"' || (pg_catalog.max(t1."rating") + '0'::float8)::text || '"', 'null'),
  '}}}')
from "public"."act" as t1
where t1."founded" > $1::smallint;
