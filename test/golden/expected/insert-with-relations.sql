insert into "public"."performance" as t1 ("stage_id", "slot", "act_id")
values ($1::integer, $2::integer, $3::bigint)
returning '{"records":[{"act":' || coalesce((select '{"name":' || pg_catalog.to_json(t2."name")::text || '}'
    from "public"."act" as t2
    where t2."id" = t1."act_id"), 'null')
  || ',"reviewCollection":' || (select '{"edges":[' || coalesce(string_agg('{"node":{"stars":' || t3."stars"::text || '}}', ','), '') || ']}'
  from (select t3."stars"
    from "public"."review" as t3
    where t3."stage_id" = t1."stage_id" and t3."slot" = t1."slot"
    order by t3."id" limit 30) as t3)
  || '}]}';
