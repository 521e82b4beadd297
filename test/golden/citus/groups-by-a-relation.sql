select pg_catalog.concat('{"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{"project":{"name":', coalesce(pg_catalog.to_json(t3."key 1"), 'null'),
            '}},"count":', t3."value 1",
            '}'), ','), ''), ']')
    from (select t4."name" as "key 1", pg_catalog.count(*) as "value 1"
      from "shop"."task" as t2
      left join "shop"."project" as t4 on t4."tenant_id" = t2."tenant_id" and t4."id" = t2."project_id" and t4."tenant_id" = $1::integer
      where t2."tenant_id" = $1::integer
      group by 1
      order by 1
      limit 30) as t3), '}');
