select coalesce((select '{"id":' || t1."id"::text
      || ',"name":' || pg_catalog.to_json(t1."name")::text
      || ',"starts":' || coalesce(pg_catalog.to_json(t1."starts")::text, 'null')
      || ',"gates":' || coalesce(pg_catalog.to_json(t1."gates")::text, 'null')
      || '}'
    from "public"."festival" as t1
    where t1."id" = $1::integer limit 1), 'null');
