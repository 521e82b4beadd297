select coalesce((select pg_catalog.concat('{"nodeId":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('["public", "festival", ', t1."id"::int4, ']'), 'UTF8'), 'base64'), E'\n', ''),
      '","name":', pg_catalog.to_json(t1."name"),
      '}')
    from "public"."festival" as t1
    where t1."id" = $1::integer
    limit 1), 'null');
