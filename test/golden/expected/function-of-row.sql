select coalesce((select pg_catalog.concat('{"name":', coalesce(pg_catalog.to_json(t1."name"), 'null'),
      ',"founder":', coalesce((select pg_catalog.concat('{"fullName":', coalesce(pg_catalog.to_json(t2."full_name"), 'null'), '}')
          from "public"."_founder"(t1.*) as t2
          where not (t2.* is null)
          limit 1), 'null'),
      '}')
    from "public"."best_act"() as t1
    where not (t1.* is null)
    limit 1), 'null');
