select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"email":', pg_catalog.to_json(t1."email"),
          ',"ticketCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"price":"', t2."price"::numeric,
                  '","event":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t3."name"), '}')
                      from "public"."festival" as t3
                      where t3."id" = t2."festival_id"), 'null'),
                  '}}'), ','), '')
            from (select t2."price", t2."festival_id"
              from "public"."ticket" as t2
              where t2."visitor_id" = t1."id"
              order by t2."visitor_id", t2."festival_id"
              limit 30) as t2),
          ']}}}'), ','), ''), ']}')
  from (select t1."email", t1."id"
    from "public"."visitor" as t1
    order by t1."id"
    limit 30) as t1),
coalesce((select pg_catalog.concat('{"tickets":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"visitor":', coalesce((select pg_catalog.concat('{"email":', pg_catalog.to_json(t6."email"), '}')
                  from "public"."visitor" as t6
                  where t6."id" = t5."visitor_id"), 'null'), '}}'), ','), '')
        from (select t5."visitor_id"
          from "public"."ticket" as t5
          where t5."festival_id" = t4."id"
          order by t5."visitor_id", t5."festival_id"
          limit 30) as t5), ']}}')
    from "public"."festival" as t4
    where t4."id" = $1::integer
    limit 1), 'null');
