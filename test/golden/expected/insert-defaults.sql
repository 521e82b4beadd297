insert into "public"."musician" as t1 ("full_name", "act_id")
values ($1::text, $2::bigint)
returning '{"records":[{"id":' || ('"' || t1."id"::text || '"')
  || ',"joined":' || pg_catalog.to_json(t1."joined")::text
  || '}]}';
