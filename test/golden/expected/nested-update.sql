with changed as (select t1."id" as c0
  from "public"."festival" as t1
  where t1."id" = $1::integer
  for update of t1)
select pg_catalog.set_config('rowgraph.keys_2', pg_catalog.concat_ws(',', string_agg(pg_catalog.json_build_array(0, w.m, w.c0::text)::text, ',' order by w.m)), true),
case when count(*) > $2::int4 then ('rowgraph: update impacts too many records' || left(count(*)::text, 0))::int4::text else '' end
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

with source as materialized (select pg_catalog.row_number() over (order by g.n) as m, g.n, g.a0 as o0, g.a1 as o1, g.a2 as o2
  from rows from (pg_catalog.unnest($1::int4[]), pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::public.genre[])) as g(n, a0, a1, a2)
  where exists (select 1 from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
      from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_2', true) || ']')::json) as e(v)) as w)),
written as (insert into "public"."act" as t1 ("id", "name", "genre")
  select s.o0, s.o1, s.o2 from source as s order by s.m
  on conflict on constraint "act_name_key" do nothing
  returning 1)
select 1;

with source as materialized (select pg_catalog.row_number() over (order by g.n) as m, g.n, g.a0 as o0
  from rows from (pg_catalog.unnest($1::int4[]), pg_catalog.unnest($2::text[])) as g(n, a0)
  where exists (select 1 from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
      from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_2', true) || ']')::json) as e(v)) as w)),
found as (select distinct on (s.m) s.m, s.n, t1."id" as c0
  from source as s join "public"."act" as t1 on t1."name" = s.o0 order by s.m)
select pg_catalog.set_config('rowgraph.keys_3', pg_catalog.concat_ws(',', string_agg(pg_catalog.json_build_array(f.n, f.m, f.c0::text)::text, ',' order by f.m)), true),
case when (select min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)) is not null then ('rowgraph: there is no such record to connect: ' || (select min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)))::int4::text else '' end
from found as f;

with changed as (update "public"."festival" as t1
  set "opener_id" = null, "closer_id" = (select k.c0::bigint from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
      from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_3', true) || ']')::json) as e(v)) as k)
  where t1."id" = any (array(select a.c0::integer from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
        from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_2', true) || ']')::json) as e(v)) as a))
  returning t1."id" as c0)
select pg_catalog.set_config('rowgraph.keys_1', pg_catalog.concat_ws(',', string_agg(pg_catalog.json_build_array(0, w.m, w.c0::text)::text, ',' order by w.m)), true)
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

with changed as (delete from "public"."stage" as t1
  where t1."festival_id" = any (array(select a.c0::integer from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
        from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_1', true) || ']')::json) as e(v)) as a)) and t1."capacity" < $1::integer
  returning 1 as c)
select case when count(*) > $2::int4 then ('rowgraph: delete impacts too many records' || left(count(*)::text, 0))::int4::text else '' end
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

with changed as (update "public"."stage" as t1
  set "name" = $1::character varying(20)
  where t1."festival_id" = any (array(select a.c0::integer from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
        from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_1', true) || ']')::json) as e(v)) as a)) and t1."capacity" > $2::integer
  returning 1 as c)
select case when count(*) > $3::int4 then ('rowgraph: update impacts too many records' || left(count(*)::text, 0))::int4::text else '' end
from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w;

with source as materialized (select pg_catalog.row_number() over (order by g.n, p.m) as m, g.n, g.a0 as o0, p.c0::integer as o1
  from rows from (pg_catalog.unnest($1::int4[]), pg_catalog.unnest($2::int4[]), pg_catalog.unnest($3::integer[])) as g(n, p, a0)
  join (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
    from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_1', true) || ']')::json) as e(v)) as p on p.n = g.p),
found as materialized (select distinct on (s.m) s.m, s.n, t1."id" as k0, s.o1 as v1, t1."festival_id" is distinct from s.o1 as moves
  from source as s join "public"."stage" as t1 on t1."id" = s.o0 order by s.m),
moved as (update "public"."stage" as t2
  set "festival_id" = f.v1
  from found as f
  where f.moves and t2."id" = f.k0
  returning 1)
select case when (select min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)) is not null then ('rowgraph: there is no such record to connect: ' || (select min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)))::int4::text else '' end,
case when exists (select 1 from source as s group by s.n having count(*) > 1) then ('rowgraph: a record cannot be connected to several records: ' || (select ''))::int4::text else '' end,
case when (select count(*) from (select distinct k0, v1 from found where moves) as d) > (select count(*) from (select distinct k0 from found where moves) as d) then ('rowgraph: a record cannot be connected to several records: ' || (select ''))::int4::text else '' end,
case when (select count(*) from (select distinct k0 from found where moves) as d) > (select count(*) from moved) then ('rowgraph: the role may not change a record to connect: ' || (select ''))::int4::text else '' end;

select pg_catalog.concat('{"affectedCount":', (select count(*) from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
      from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_1', true) || ']')::json) as e(v)) as w), '}');
