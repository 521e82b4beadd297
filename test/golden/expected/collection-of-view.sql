select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', coalesce(pg_catalog.to_json(t1."name"), 'null'),
          ',"festival":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
              from "public"."festival" as t2
              where t2."id" = t1."festival_id"), 'null'),
          '}}'), ',') filter (where t1."id" is not null), ''), ']}')
  from (select t1."name", t1."festival_id", t1."id"
    from "public"."big_stage" as t1
    order by t1."id"
    limit 30) as t1),
coalesce((select pg_catalog.concat('{"bigStages":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', coalesce(pg_catalog.to_json(t4."name"), 'null'), '}}'), ',') filter (where t4."id" is not null), '')
        from (select t4."name", t4."id"
          from "public"."big_stage" as t4
          where t4."festival_id" = t3."id"
          order by t4."id"
          limit 30) as t4), ']}}')
    from "public"."festival" as t3
    where t3."id" = $1::integer
    limit 1), 'null');
