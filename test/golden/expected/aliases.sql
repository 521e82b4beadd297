select coalesce((select pg_catalog.concat('{', $1::text, pg_catalog.to_json(t1."name"), $2::text, pg_catalog.to_json(t1."name"),
      '}')
    from "public"."festival" as t1
    where t1."id" = $3::integer
    limit 1), 'null'),
coalesce((select pg_catalog.concat('{', $1::text, pg_catalog.to_json(t2."name"),
      '}')
    from "public"."festival" as t2
    where t2."id" = $4::integer
    limit 1), 'null');
