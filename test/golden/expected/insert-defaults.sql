with changed as (insert into "public"."musician" as t1 ("full_name", "act_id")
  values ($1::text, $2::bigint)
  returning t1."id", t1."joined")
select '{"records":[' || coalesce(string_agg('{"id":' || ('"' || t1."id"::text || '"')
      || ',"joined":' || pg_catalog.to_json(t1."joined")::text
      || '}', ','), '') || ']}'
from changed as t1;
