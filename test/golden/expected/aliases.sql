select coalesce((select '{' || $1::text || pg_catalog.to_json(t1."name")::text || $2::text || pg_catalog.to_json(t1."name")::text
      || '}'
    from "public"."festival" as t1
    where t1."id" = $3::integer limit 1), 'null'),
coalesce((select '{' || $1::text || pg_catalog.to_json(t2."name")::text
      || '}'
    from "public"."festival" as t2
    where t2."id" = $4::integer limit 1), 'null');
