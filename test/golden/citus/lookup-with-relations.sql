select coalesce((select pg_catalog.concat('{"title":', pg_catalog.to_json(t1."title"),
      ',"project":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"),
            ',"account":', coalesce((select pg_catalog.concat('{"email":', pg_catalog.to_json(t3."email"), '}')
                from "shop"."account" as t3
                where t3."tenant_id" = t2."tenant_id" and t3."id" = t2."owner_id" and t3."tenant_id" = $1::integer), 'null'),
            '}')
          from "shop"."project" as t2
          where t2."tenant_id" = t1."tenant_id" and t2."id" = t1."project_id" and t2."tenant_id" = $1::integer), 'null'),
      ',"commentCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"words":', pg_catalog.to_json(t4."words"), '}}'), ','), '')
        from (select t4."words"
          from "shop"."comment" as t4
          where t4."tenant_id" = t1."tenant_id" and t4."task_id" = t1."id" and t4."tenant_id" = $1::integer
          order by t4."tenant_id", t4."id"
          limit 30) as t4),
      ']}}')
    from "shop"."task" as t1
    where t1."tenant_id" = $1::integer and t1."id" = $2::bigint
    limit 1), 'null');
