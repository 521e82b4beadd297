select coalesce((select pg_catalog.concat('{"email":', pg_catalog.to_json(t1."email"),
      ',"badge":', coalesce((select pg_catalog.concat('{"code":"', t2."code"::uuid, '"}')
          from "public"."badge" as t2
          where t2."visitor_id" = t1."id"), 'null'),
      '}')
    from "public"."visitor" as t1
    where t1."id" = $1::integer
    limit 1), 'null'),
coalesce((select pg_catalog.concat('{"visitor":', coalesce((select pg_catalog.concat('{"email":', pg_catalog.to_json(t4."email"),
            ',"telephone":', coalesce(pg_catalog.to_json(t4."phone"), 'null'),
            '}')
          from "public"."visitor" as t4
          where t4."id" = t3."visitor_id"), 'null'), '}')
    from "public"."badge" as t3
    where t3."visitor_id" = $2::integer
    limit 1), 'null');
