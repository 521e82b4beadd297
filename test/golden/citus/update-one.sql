with changed as (update "shop"."task" as t1
  set "status" = $1::shop.status, "points" = $2::integer
  where (t1."tenant_id" = $3::integer and t1."id" = $4::bigint)
  returning t1."id", t1."status", t1."points")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"id":"', t1."id"::int8,
        '","status":"', pg_catalog.enum_out(t1."status"),
        '","points":', coalesce(t1."points"::int4::text, 'null'),
        '}'), ','), ''),
  ']}', case when pg_catalog.count(*) > $5::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.count(*)::text, 0))::int4::text else '' end)
from changed as t1;
