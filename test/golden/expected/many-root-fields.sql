select (select '{"edges":[' || coalesce(string_agg('{"node":{"id":' || ('"' || t1."id"::text || '"') || '}}', ','), '') || ']}'
  from (select t1."id"
    from "public"."act" as t1
    order by t1."id" limit 1) as t1),
coalesce((select '{"email":' || pg_catalog.to_json(t2."email")::text || '}'
    from "public"."visitor" as t2
    where t2."id" = $1::integer limit 1), 'null'),
coalesce(('"' || "public"."ticket_total"("festival" => $2::integer)::text || '"'), 'null');
