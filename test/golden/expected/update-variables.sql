with changed as (update "public"."visitor" as t1
  set "email" = $1::text, "phone" = $2::text
  where t1."id" < $3::integer
  returning t1."email", case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $4::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as "(counted)")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"email":', pg_catalog.to_json(t1."email"), '}'), ','), ''),
  ']}', pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true))
from changed as t1;
