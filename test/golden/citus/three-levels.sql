select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"),
        ',"taskCollection":', t1."(related 1)",
        '}}'), ','), ''), ']}')
from (select t1."name", pg_catalog.concat('{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"title":', pg_catalog.to_json(t2."title"),
            ',"commentCollection":', t2."(related 1)",
            '}}'), ','), '')
      from (select t2."title", pg_catalog.concat('{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"words":', pg_catalog.to_json(t3."words"),
                  ',"account":', t3."(related 1)",
                  '}}'), ','), '')
            from (select t3."words", coalesce((select pg_catalog.concat('{"email":', pg_catalog.to_json(t4."email"), '}')
                  from "shop"."account" as t4
                  where t4."tenant_id" = t3."tenant_id" and t4."id" = t3."author_id" and t4."tenant_id" = $1::integer), 'null') as "(related 1)"
              from "shop"."comment" as t3
              where t3."tenant_id" = t2."tenant_id" and t3."task_id" = t2."id" and t3."tenant_id" = $1::integer
              order by t3."tenant_id", t3."id"
              limit 2) as t3), ']}') as "(related 1)"
        from "shop"."task" as t2
        where t2."tenant_id" = t1."tenant_id" and t2."project_id" = t1."id" and t2."tenant_id" = $1::integer
        order by t2."id" desc, t2."tenant_id"
        limit 3) as t2), ']}') as "(related 1)"
  from "shop"."project" as t1
  where t1."tenant_id" = $1::integer
  order by t1."tenant_id", t1."id"
  limit 30) as t1;
