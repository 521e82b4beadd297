with changed as (select t1."id" as c0
  from "public"."festival" as t1
  where t1."id" = $1::integer
  limit $2::int8 + 1
  for update of t1)
select pg_catalog.set_config('rowgraph.keys_2_n', (coalesce(pg_catalog.jsonb_agg(0 order by w.m), '[]'))::text, true),
pg_catalog.set_config('rowgraph.keys_2_c0', (coalesce(pg_catalog.jsonb_agg(w.c0::text order by w.m), '[]'))::text, true),
case when pg_catalog.count(*) > $3::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.count(*)::text, 0))::int4::text else '' end
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

with source as (select g.a0 as o0, g.a1 as o1, g.a2 as o2
  from (values ($1::bigint, $2::text, $3::public.genre)) as g(a0, a1, a2)
  where (select pg_catalog.jsonb_array_length(pg_catalog.current_setting('rowgraph.keys_2_c0', true)::jsonb)) > 0)
insert into "public"."act" as t1 ("id", "name", "genre")
select s.o0, s.o1, s.o2
from source as s
on conflict on constraint "act_name_key" do nothing;

with source as materialized (select pg_catalog.row_number() over (order by g.n) as m, g.n, g.a0 as o0
  from (values ($1::int4, $2::text)) as g(n, a0)
  where (select pg_catalog.jsonb_array_length(pg_catalog.current_setting('rowgraph.keys_2_c0', true)::jsonb)) > 0),
found as (select distinct on (s.m) s.m, s.n, t1."id" as c0
  from source as s
  join "public"."act" as t1 on t1."name" = s.o0
  order by s.m)
select pg_catalog.set_config('rowgraph.keys_3_n', (coalesce(pg_catalog.jsonb_agg(f.n order by f.m), '[]'))::text, true),
pg_catalog.set_config('rowgraph.keys_3_c0', (coalesce(pg_catalog.jsonb_agg(f.c0::text order by f.m), '[]'))::text, true),
case when (select pg_catalog.min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)) is not null then ('rowgraph: connect-denied: ' || (select pg_catalog.min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)))::int4::text else '' end
from found as f;

with changed as (update "public"."festival" as t1
  set "opener_id" = null, "closer_id" = (select (pg_catalog.current_setting('rowgraph.keys_3_c0', true)::jsonb ->> 0)::bigint)
  where t1."id" = any (array(select a.v::integer from pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_2_c0', true)::jsonb) as a(v)))
  returning t1."id" as c0)
select pg_catalog.set_config('rowgraph.keys_1_n', (coalesce(pg_catalog.jsonb_agg(0 order by w.m), '[]'))::text, true),
pg_catalog.set_config('rowgraph.keys_1_c0', (coalesce(pg_catalog.jsonb_agg(w.c0::text order by w.m), '[]'))::text, true)
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

with changed as (delete from "public"."stage" as t1
  where t1."festival_id" = any (array(select a.v::integer from pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb) as a(v))) and t1."capacity" < $1::integer
  returning 1 as c, case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $2::int4 then ('rowgraph: delete-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as counted)
select pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true)
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

with changed as (update "public"."stage" as t1
  set "name" = $1::character varying(20)
  where t1."festival_id" = any (array(select a.v::integer from pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb) as a(v))) and t1."capacity" > $2::integer
  returning 1 as c, case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $3::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as counted)
select pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true)
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

with source as materialized (select pg_catalog.row_number() over (order by g.n, p.m) as m, g.n, g.a0 as o0, p.c0::integer as o1
  from (values ($1::int4, $2::int4, $3::integer)) as g(n, p, a0)
  join rows from (pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_n', true)::jsonb), pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb)) with ordinality as p(n, c0, m) on p.n::int4 = g.p),
found as materialized (select distinct on (s.m) s.m, s.n, t1."id" as k0, s.o1 as v1, t1."festival_id" is distinct from s.o1 as moves
  from source as s
  join "public"."stage" as t1 on t1."id" = s.o0
  order by s.m),
moved as (update "public"."stage" as t2
  set "festival_id" = f.v1
  from found as f
  where f.moves and t2."id" = f.k0
  returning 1)
select case when (select pg_catalog.min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)) is not null then ('rowgraph: connect-none: ' || (select pg_catalog.min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)))::int4::text else '' end,
case when exists (select 1 from source as s group by s.n having pg_catalog.count(*) > 1) then ('rowgraph: connect-several: ' || (select ''))::int4::text else '' end,
case when (select pg_catalog.count(*) from (select distinct k0, v1 from found where moves) as d) > (select pg_catalog.count(*) from (select distinct k0 from found where moves) as d) then ('rowgraph: connect-several: ' || (select ''))::int4::text else '' end,
case when (select pg_catalog.count(*) from (select distinct k0 from found where moves) as d) > (select pg_catalog.count(*) from moved) then ('rowgraph: connect-denied: ' || (select ''))::int4::text else '' end;

select pg_catalog.concat('{"affectedCount":', pg_catalog.jsonb_array_length(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb), '}');
