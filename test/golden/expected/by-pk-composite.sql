select coalesce((select pg_catalog.concat('{"nodeId":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('["public", "performance", ', t1."stage_id"::int4,
              ', ', t1."slot"::int4,
              ']'), 'UTF8'), 'base64'), E'\n', ''),
      '","act":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
          from "public"."act" as t2
          where t2."id" = t1."act_id"), 'null'),
      '}')
    from "public"."performance" as t1
    where t1."stage_id" = $1::integer and t1."slot" = $2::integer
    limit 1), 'null');
