with source as materialized (select pg_catalog.row_number() over (order by g.n) as m, g.n, g.a0 as o0
  from rows from (pg_catalog.unnest($1::int4[]), pg_catalog.unnest($2::text[])) as g(n, a0)),
found as (select distinct on (s.m) s.m, s.n, t1."id" as c0
  from source as s join "public"."act" as t1 on t1."name" = s.o0 order by s.m)
select pg_catalog.set_config('rowgraph.keys_2', pg_catalog.concat_ws(',', string_agg(pg_catalog.json_build_array(f.n, f.m, f.c0::text)::text, ',' order by f.m)), true),
case when (select min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)) is not null then ('rowgraph: there is no such record to connect: ' || (select min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m)))::int4::text else '' end
from found as f;

with source as materialized (select pg_catalog.row_number() over (order by g.n) as m, g.n, g.a0 as o0, g.a1 as o1, g.a2 as o2
  from rows from (pg_catalog.unnest($1::int4[]), pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::public.genre[])) as g(n, a0, a1, a2)),
written as (insert into "public"."act" as t1 ("id", "name", "genre")
  select s.o0, s.o1, s.o2 from source as s order by s.m
  returning t1."id" as c0)
select pg_catalog.set_config('rowgraph.keys_3', pg_catalog.concat_ws(',', string_agg(pg_catalog.json_build_array(s.n, w.m, w.c0::text)::text, ',' order by w.m)), true),
case when (select count(*) from source) > (select count(*) from written) then ('rowgraph: a trigger left out a record that is to be inserted: ' || (select ''))::int4::text else '' end
from (select pg_catalog.row_number() over () as m, w.* from written as w) as w join source as s on s.m = w.m;

with source as materialized (select pg_catalog.row_number() over (order by g.n, p.m) as m, g.n, g.a0 as o0, p.c0::bigint as o1
  from rows from (pg_catalog.unnest($1::int4[]), pg_catalog.unnest($2::int4[]), pg_catalog.unnest($3::text[])) as g(n, p, a0)
  join (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
    from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_3', true) || ']')::json) as e(v)) as p on p.n = g.p),
written as (insert into "public"."musician" as t1 ("full_name", "act_id")
  select s.o0, s.o1 from source as s order by s.m
  returning 1)
select case when (select count(*) from source) > (select count(*) from written) then ('rowgraph: a trigger left out a record that is to be inserted: ' || (select ''))::int4::text else '' end;

with source as materialized (select pg_catalog.row_number() over (order by g.n) as m, g.n, g.a0 as o0, g.a1 as o1, j0.c0::bigint as o2, j1.c0::bigint as o3
  from rows from (pg_catalog.unnest($1::int4[]), pg_catalog.unnest($2::integer[]), pg_catalog.unnest($3::text[])) as g(n, a0, a1)
  left join (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
    from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_2', true) || ']')::json) as e(v)) as j0 on j0.n = g.n
  left join (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
    from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_3', true) || ']')::json) as e(v)) as j1 on j1.n = g.n),
written as (insert into "public"."festival" as t1 ("id", "name", "opener_id", "closer_id")
  select s.o0, s.o1, s.o2, s.o3 from source as s order by s.m
  returning t1."id" as c0)
select pg_catalog.set_config('rowgraph.keys_1', pg_catalog.concat_ws(',', string_agg(pg_catalog.json_build_array(s.n, w.m, w.c0::text)::text, ',' order by w.m)), true),
case when (select count(*) from source) > (select count(*) from written) then ('rowgraph: a trigger left out a record that is to be inserted: ' || (select ''))::int4::text else '' end
from (select pg_catalog.row_number() over () as m, w.* from written as w) as w join source as s on s.m = w.m;

with source as materialized (select pg_catalog.row_number() over (order by g.n, p.m) as m, g.n, g.a0 as o0, g.a1 as o1, g.a2 as o2, p.c0::integer as o3
  from rows from (pg_catalog.unnest($1::int4[]), pg_catalog.unnest($2::int4[]), pg_catalog.unnest($3::integer[]), pg_catalog.unnest($4::character varying(20)[]), pg_catalog.unnest($5::integer[])) as g(n, p, a0, a1, a2)
  join (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
    from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_1', true) || ']')::json) as e(v)) as p on p.n = g.p),
written as (insert into "public"."stage" as t1 ("id", "name", "capacity", "festival_id")
  select s.o0, s.o1, s.o2, s.o3 from source as s order by s.m
  returning 1)
select case when (select count(*) from source) > (select count(*) from written) then ('rowgraph: a trigger left out a record that is to be inserted: ' || (select ''))::int4::text else '' end;

select pg_catalog.concat('{"affectedCount":', (select count(*) from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
      from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_1', true) || ']')::json) as e(v)) as w),
  ',"records":[', coalesce(string_agg(pg_catalog.concat('{"name":', pg_catalog.to_json(t1."name"),
        ',"stageCollection":', (select pg_catalog.concat('{"edges":[', coalesce(string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t2."name"), '}}'), ','), ''), ']}')
          from (select t2."name"
            from "public"."stage" as t2
            where t2."festival_id" = t1."id"
            order by t2."id" limit 5) as t2),
        '}'), ',' order by k.n, k.m), ''),
  ']}')
from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
  from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_1', true) || ']')::json) as e(v)) as k join "public"."festival" as t1 on t1."id" = k.c0::integer
where t1."id" = any (array(select a.c0::integer from (select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0
      from pg_catalog.json_array_elements(('[' || pg_catalog.current_setting('rowgraph.keys_1', true) || ']')::json) as e(v)) as a));
