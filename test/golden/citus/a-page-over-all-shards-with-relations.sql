select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"),
        ',"account":', t1."(related 1)",
        ',"taskCollection":', t1."(related 2)",
        '}}'), ','), ''), ']}')
from (select t1."name", coalesce((select pg_catalog.concat('{"email":', pg_catalog.to_json(t2."email"), '}')
      from "shop"."account" as t2
      where t2."tenant_id" = t1."tenant_id" and t2."id" = t1."owner_id"), 'null') as "(related 1)", pg_catalog.concat('{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"title":', pg_catalog.to_json(t3."title"), '}}'), ','), '')
      from (select t3."title"
        from "shop"."task" as t3
        where t3."tenant_id" = t1."tenant_id" and t3."project_id" = t1."id"
        order by t3."tenant_id", t3."id"
        limit 2) as t3), ']}') as "(related 2)"
  from "shop"."project" as t1
  order by t1."tenant_id", t1."id"
  limit 6) as t1;
