insert into "public"."performance" as t1 ("stage_id", "slot", "act_id")
values ($1::integer, $2::integer, $3::bigint)
returning pg_catalog.concat('{"records":[{"act":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
      from "public"."act" as t2
      where t2."id" = t1."act_id"), 'null'),
  ',"reviewCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"stars":', t3."stars", '}}'), ','), '')
    from (select t3."stars"
      from "public"."review" as t3
      where t3."stage_id" = t1."stage_id" and t3."slot" = t1."slot"
      order by t3."id" limit 30) as t3),
  ']}}]}');
