with changed as (update "public"."act" as t1
  set "touring" = $1::boolean
  where t1."genre" = 'folk'::public.genre
  returning t1."name", case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $2::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as "(counted)")
select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"name":', t1."(json 1)", $3::text, t1."(json 1)",
        '}'), ','), ''),
  '],"affectedCount":', pg_catalog.count(*),
  '}', pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true))
from (select t1.*, pg_catalog.to_json(t1."name") as "(json 1)"
  from changed as t1
  offset 0) as t1;
