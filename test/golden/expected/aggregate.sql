select '{"aggregate":{"count":' || count(*)::text
  || ',"sum":{"fee":' || coalesce('"' || regexp_replace(sum(t1."fee")::text, '(\.\d+?)0+$', '\1') || '"', 'null')
  || ',"founded":' || coalesce('"' || sum(t1."founded") || '"', 'null')
  || '},"avg":{"rating":' || coalesce('"' || regexp_replace(avg(t1."rating")::text, '(\.\d+?)0+$', '\1') || '"', 'null')
  || '},"min":{"name":' || coalesce(to_json(min(t1."name"))::text, 'null')
  || ',"founded":' || coalesce(min(t1."founded")::text, 'null')
  || '},"max":{"name":' || coalesce(to_json(max(t1."name"))::text, 'null')
  || ',"rating":' || coalesce('"' || regexp_replace(max(t1."rating")::text, '(\.\d+?)0+$', '\1') || '"', 'null')
  || '}}}'
from "public"."act" as t1
where t1."founded" > $1::smallint;
