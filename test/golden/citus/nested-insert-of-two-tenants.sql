with source as materialized (select pg_catalog.row_number() over (order by g.n) as m, g.n, g.a0 as o0, g.a1 as o1, g.a2 as o2
  from (values ($1::int4, $2::integer, $3::bigint, $4::text), ($5::int4, $6::integer, $7::bigint, $8::text)) as g(n, a0, a1, a2)),
written as (insert into "shop"."project" as t1 ("tenant_id", "id", "name")
  select s.o0, s.o1, s.o2
  from source as s
  order by s.m
  returning t1."tenant_id" as c0, t1."id" as c1, t1."tenant_id" as shard)
select pg_catalog.set_config('rowgraph.keys_1_c0', (pg_catalog.json_agg(w.c0::text order by w.m))::text, true),
pg_catalog.set_config('rowgraph.keys_1_c1', (pg_catalog.json_agg(w.c1::text order by w.m))::text, true),
case when pg_catalog.count(*) < (select pg_catalog.count(*) from source) then ('rowgraph: insert-left-out: ' || (select ''))::int4::text else '' end
from (select w.*, i.m, i.n
  from (select r.*, pg_catalog.row_number() over (partition by r.shard order by r."place") as "rank"
    from (select r.*, pg_catalog.row_number() over () as "place"
      from written as r) as r) as w
  left join (select r.*, pg_catalog.row_number() over (partition by r.o0 order by r.m) as "rank"
    from source as r) as i on i.o0 = w.shard and i."rank" = w."rank") as w cross join (select 1 from pg_catalog.pg_am limit 1) as here;

with source as (select g.a0 as o0, g.a1 as o1, ((select pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb from (select 1 from pg_catalog.pg_am limit 1) as here) ->> g.p)::integer as o2, ((select pg_catalog.current_setting('rowgraph.keys_1_c1', true)::jsonb from (select 1 from pg_catalog.pg_am limit 1) as here) ->> g.p)::bigint as o3
  from (values ($1::int4, $2::bigint, $3::text), ($4::int4, $5::bigint, $6::text)) as g(p, a0, a1))
insert into "shop"."task" as t1 ("id", "title", "tenant_id", "project_id")
select s.o0, s.o1, s.o2, s.o3
from source as s;

select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"name":', pg_catalog.to_json(t1."name"),
        ',"taskCollection":', t1."(related 1)",
        '}'), ',' order by t1."(label)", t1."(number)"), ''), ']}')
from (select t1."name", pg_catalog.concat('{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"title":', pg_catalog.to_json(t2."title"), '}}'), ','), '')
      from (select t2."title"
        from "shop"."task" as t2
        where t2."tenant_id" = t1."tenant_id" and t2."project_id" = t1."id"
        order by t2."tenant_id", t2."id"
        limit 30) as t2), ']}') as "(related 1)", 1 as "(label)", k.m as "(number)"
  from (select k.*
    from rows from (pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb), pg_catalog.jsonb_array_elements_text(pg_catalog.current_setting('rowgraph.keys_1_c1', true)::jsonb)) with ordinality as k(c0, c1, m) cross join (select 1 from pg_catalog.pg_am limit 1) as here) as k
  join "shop"."project" as t1 on t1."tenant_id" = k.c0::integer and t1."id" = k.c1::bigint
  offset 0) as t1;
