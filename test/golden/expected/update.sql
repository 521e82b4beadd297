with changed as (update "public"."stage" as t1
  set "capacity" = $1::integer
  where t1."id" = $2::integer
  returning t1."name", t1."capacity")
select pg_catalog.concat('{"affectedCount":', count(*),
  ',"records":[', coalesce(string_agg(pg_catalog.concat('{"name":', pg_catalog.to_json(t1."name"),
        ',"capacity":', coalesce(t1."capacity"::text, 'null'),
        '}'), ','), ''),
  ']}', case when count(*) > $3::int4 then ('rowgraph: update impacts too many records' || left(count(*)::text, 0))::int4::text else '' end)
from changed as t1;
