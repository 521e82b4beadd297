with source as (select g.a0 as o0
  from (values ($1::text)) as g(a0)),
found as (select t1."id" as c0
  from source as s
  join "public"."act" as t1 on t1."name" = s.o0
  limit 1)
select pg_catalog.set_config('rowgraph.keys_2_c0', (pg_catalog.json_agg(f.c0::text))::text, true),
case when pg_catalog.count(*) < 1 then ('rowgraph: connect-none: ' || (select $2::text))::int4::text else '' end
from found as f;

with source as (select g.a0 as o0, g.a1 as o1, g.a2 as o2
  from (values ($1::bigint, $2::text, $3::public.genre)) as g(a0, a1, a2)),
written as (insert into "public"."act" as t1 ("id", "name", "genre")
  select s.o0, s.o1, s.o2
  from source as s
  returning t1."id" as c0)
select pg_catalog.set_config('rowgraph.keys_3_c0', (pg_catalog.json_agg(w.c0::text))::text, true),
case when pg_catalog.count(*) < 1 then ('rowgraph: insert-left-out: ' || (select ''))::int4::text else '' end
from written as w;

with source as (select g.a0 as o0, (select (pg_catalog.current_setting('rowgraph.keys_3_c0', true)::jsonb ->> 0)::bigint) as o1
  from (values ($1::text), ($2::text)) as g(a0))
insert into "public"."musician" as t1 ("full_name", "act_id")
select s.o0, s.o1
from source as s;

with source as (select g.a0 as o0, g.a1 as o1, ((select pg_catalog.current_setting('rowgraph.keys_2_c0', true)::jsonb) ->> g.q0)::bigint as o2, ((select pg_catalog.current_setting('rowgraph.keys_3_c0', true)::jsonb) ->> g.q1)::bigint as o3
  from (values ($1::int4, $2::int4, $3::integer, $4::text), ($5::int4, $6::int4, $7::integer, $8::text)) as g(q0, q1, a0, a1)),
written as (insert into "public"."festival" as t1 ("id", "name", "opener_id", "closer_id")
  select s.o0, s.o1, s.o2, s.o3
  from source as s
  returning t1."id" as c0)
select pg_catalog.set_config('rowgraph.keys_1_c0', (pg_catalog.json_agg(w.c0::text))::text, true),
case when pg_catalog.count(*) < 2 then ('rowgraph: insert-left-out: ' || (select ''))::int4::text else '' end
from written as w;

with source as (select g.a0 as o0, g.a1 as o1, g.a2 as o2, ((select pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb) ->> g.p)::integer as o3
  from (values ($1::int4, $2::integer, $3::character varying(20), $4::integer), ($5::int4, $6::integer, $7::character varying(20), $8::integer)) as g(p, a0, a1, a2))
insert into "public"."stage" as t1 ("id", "name", "capacity", "festival_id")
select s.o0, s.o1, s.o2, s.o3
from source as s;

select pg_catalog.concat('{"affectedCount":', pg_catalog.jsonb_array_length(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"name":', pg_catalog.to_json(t1."name"),
        ',"stageCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t2."name"), '}}'), ','), '')
          from (select t2."name"
            from "public"."stage" as t2
            where t2."festival_id" = t1."id"
            order by t2."id"
            limit 5) as t2),
        ']}}'), ',' order by k.m), ''),
  ']}')
from pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb) with ordinality as k(c0, m)
join "public"."festival" as t1 on t1."id" = k.c0::integer
where t1."id" = any (array(select a.v::integer from pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb) as a(v)));
