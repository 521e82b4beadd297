select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"nodeId":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('["public", "headliner", ', coalesce(t1."stage_id"::int4::text, 'null'),
                  ', ', coalesce(t1."slot"::int4::text, 'null'),
                  ']'), 'UTF8'), 'base64'), E'\n', ''),
          '","name":', coalesce(pg_catalog.to_json(t1."name"), 'null'),
          ',"stage":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
              from "public"."stage" as t2
              where t2."id" = t1."stage_id"), 'null'),
          '}}'), ',') filter (where t1."stage_id" is not null), ''), ']}')
  from (select t1."stage_id", t1."slot", t1."name"
    from "public"."headliner" as t1
    where exists (select 1
      from "public"."act" as t3
      where t3."id" = t1."act_id" and t3."genre" = 'rock'::public.genre)
    order by t1."stage_id", t1."slot"
    limit 2) as t1),
coalesce((select pg_catalog.concat('{"headlinerCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"act":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t6."name"), '}')
                  from "public"."act" as t6
                  where t6."id" = t5."act_id"), 'null'), '}}'), ',') filter (where t5."stage_id" is not null), '')
        from (select t5."act_id", t5."stage_id"
          from "public"."headliner" as t5
          where t5."stage_id" = t4."id"
          order by t5."stage_id", t5."slot"
          limit 30) as t5), ']}}')
    from "public"."stage" as t4
    where t4."id" = $1::integer
    limit 1), 'null');
