select coalesce((select pg_catalog.concat('{"id":', t1."id"::int4,
      ',"name":', pg_catalog.to_json(t1."name"),
      ',"starts":', coalesce(pg_catalog.to_json(t1."starts"), 'null'),
      ',"gates":', coalesce(pg_catalog.to_json(t1."gates"), 'null'),
      '}')
    from "public"."festival" as t1
    where t1."id" = $1::integer
    limit 1), 'null');
