insert into "public"."musician" as t1 ("full_name", "act_id")
values ($1::text, $2::bigint)
returning pg_catalog.concat('{"records":[{"id":"', t1."id"::uuid,
  '","joined":', pg_catalog.to_json(t1."joined"),
  '}]}');
