select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.array_agg(w.*::"public"."act")::text, '{}'), true), 0)
from "public"."raise_fee"("act_id" => $1::bigint, "percent" => $2::integer) as w
where not (w.* is null);

select coalesce((select pg_catalog.concat('{"name":', coalesce(pg_catalog.to_json(t1."name"), 'null'),
      ',"fee":', coalesce('"' || t1."fee"::numeric::text || '"', 'null'),
      ',"musicianCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t2."full_name"), '}}'), ','), '')
        from (select t2."full_name"
          from "public"."musician" as t2
          where t2."act_id" = t1."id"
          order by t2."id"
          limit 30) as t2),
      ']}}')
    from pg_catalog.unnest((select pg_catalog.current_setting('rowgraph.written', true)::"public"."act"[])) as t1
    where not (t1.* is null)
    limit 1), 'null');
