select coalesce((select pg_catalog.concat('{"__typename":"Festival","name":', pg_catalog.to_json(t1."name"),
      ',"stageCollection":{"__typename":"StageConnection","edges":[', (select coalesce(pg_catalog.string_agg('{"__typename":"StageEdge","node":{"__typename":"Stage"}}', ','), '')
        from (select 
          from "public"."stage" as t2
          where t2."festival_id" = t1."id"
          order by t2."id"
          limit 5) as t2),
      ']}}')
    from "public"."festival" as t1
    where t1."id" = $1::integer
    limit 1), 'null');
