select '{"aggregate":{"count":' || count(*)::text
  || ',"sum":{"fee":' || coalesce('"' || regexp_replace(pg_catalog.sum(t1."fee")::text, '(\.\d+?)0+$', '\1') || '"', 'null')
  || ',"founded":' || coalesce('"' || pg_catalog.sum(t1."founded") || '"', 'null')
  || '},"avg":{"rating":' || coalesce('"' || regexp_replace(pg_catalog.avg(t1."rating")::text, '(\.\d+?)0+$', '\1') || '"', 'null')
  || '},"min":{"name":' || coalesce(pg_catalog.to_json(pg_catalog.min(t1."name"))::text, 'null')
  || ',"founded":' || coalesce(pg_catalog.min(t1."founded")::text, 'null')
  || '},"max":{"name":' || coalesce(pg_catalog.to_json(pg_catalog.max(t1."name"))::text, 'null')
  || ',"rating":' || coalesce('"' || regexp_replace(pg_catalog.max(t1."rating")::text, '(\.\d+?)0+$', '\1') || '"', 'null')
  || '}}}'
from "public"."act" as t1
where t1."founded" > $1::smallint;
