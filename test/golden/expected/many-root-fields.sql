select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
  from (select t1."id"
    from "public"."act" as t1
    order by t1."id"
    limit 1) as t1),
coalesce((select pg_catalog.concat('{"email":', pg_catalog.to_json(t2."email"), '}')
    from "public"."visitor" as t2
    where t2."id" = $1::integer
    limit 1), 'null'),
coalesce('"' || "public"."ticket_total"("festival" => $2::integer)::numeric::text || '"', 'null');
