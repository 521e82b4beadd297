with changed as (update "public"."slot" as t1
  set "during" = $1::tstzrange, "seats" = $2::int4multirange
  where t1."seats" = $3::int4multirange
  returning t1."during", case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $4::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as "(counted)")
select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"duringBounds":', case when t1."during" is null then 'null' else pg_catalog.concat('{"isEmpty":', pg_catalog.isempty(t1."during")::bool::text, '}') end, '}'), ','), ''),
  ']}', pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true))
from changed as t1;
