select coalesce((select pg_catalog.concat('{"name":', coalesce(pg_catalog.to_json(t1."name"), 'null'),
      ',"fee":', coalesce('"' || t1."fee"::numeric::text || '"', 'null'),
      '}')
    from "public"."raise_fee"("act_id" => $1::bigint, "percent" => $2::integer) as t1
    where not (t1.* is null)
    limit 1), 'null');
