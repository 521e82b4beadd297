with changed as (select t1."stage_id" as c0, t1."slot" as c1
  from "public"."performance" as t1
  where t1."stage_id" = $1::integer
  limit $2::int8 + 1
  for update of t1)
select pg_catalog.set_config('rowgraph.keys_1_n', (coalesce(pg_catalog.jsonb_agg(0 order by w.m), '[]'))::text, true),
pg_catalog.set_config('rowgraph.keys_1_c0', (coalesce(pg_catalog.jsonb_agg(w.c0::text order by w.m), '[]'))::text, true),
pg_catalog.set_config('rowgraph.keys_1_c1', (coalesce(pg_catalog.jsonb_agg(w.c1::text order by w.m), '[]'))::text, true),
case when pg_catalog.count(*) > $3::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.count(*)::text, 0))::int4::text else '' end
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

with changed as (update "public"."review" as t1
  set "words" = $1::text
  where t1."stage_id" = any (array(select a.v::integer from pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb) as a(v))) and t1."slot" = any (array(select a.v::integer from pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c1', true)::jsonb) as a(v))) and exists (select 1
    from rows from (pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_n', true)::jsonb), pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb), pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c1', true)::jsonb)) with ordinality as k(n, c0, c1, m)
    where t1."stage_id" = k.c0::integer and t1."slot" = k.c1::integer) and t1."stars" > $2::integer
  returning 1 as c, case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $3::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as counted)
select pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true)
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"stageId":', t1."stage_id"::int4,
        ',"slot":', t1."slot"::int4,
        '}'), ',' order by k.n::int4, k.m), ''), ']}')
from rows from (pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_n', true)::jsonb), pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb), pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c1', true)::jsonb)) with ordinality as k(n, c0, c1, m)
join "public"."performance" as t1 on t1."stage_id" = k.c0::integer and t1."slot" = k.c1::integer
where t1."stage_id" = any (array(select a.v::integer from pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb) as a(v))) and t1."slot" = any (array(select a.v::integer from pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c1', true)::jsonb) as a(v)));
