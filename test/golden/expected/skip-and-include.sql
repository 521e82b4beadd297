select coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t1."name"), '}')
    from "public"."festival" as t1
    where t1."id" = $1::integer
    limit 1), 'null');
