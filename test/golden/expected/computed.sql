select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"billing":', coalesce(pg_catalog.to_json("public"."_billing"(t1."(row)")), 'null'),
          ',"founder":', coalesce((select pg_catalog.concat('{"fullName":', coalesce(pg_catalog.to_json(t2."full_name"), 'null'), '}')
              from "public"."_founder"(t1."(row)") as t2
              where not (t2.* is null)
              limit 1), 'null'),
          '}}'), ','), ''), ']}')
  from (select t1.*::"public"."act" as "(row)"
    from "public"."act" as t1
    order by t1."id"
    limit 30) as t1),
coalesce((select pg_catalog.concat('{"acts":', (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', coalesce(pg_catalog.to_json(t4."name"), 'null'), '}}'), ',') filter (where t4."id" is not null), ''), ']}')
        from (select t4."name", t4."id"
          from "public"."_acts"(t3.*) as t4
          where t4."touring" = true
          order by t4."name", t4."id"
          limit 1) as t4), '}')
    from "public"."festival" as t3
    where t3."id" = $1::integer
    limit 1), 'null');
