select pg_catalog.concat('{"edges":[', coalesce((select pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."id"::int8, ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","node":{"name":', pg_catalog.to_json(t1."name"),
        ',"musicianCollection":{"edges":[', coalesce((select pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t2."full_name"), '}}')
            from "public"."musician" as t2
            where t2."act_id" = t1."id" and t2."id" = $1::uuid), ''),
        ']}}}')
      from "public"."act" as t1
      where (t1."touring" = true and t1."id" = $2::bigint)), ''),
  '],"totalCount":', (select pg_catalog.count(*)
    from "public"."act" as t3
    where (t3."touring" = true and t3."id" = $2::bigint)),
  '}');
