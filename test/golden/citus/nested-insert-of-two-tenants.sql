with written as (insert into "shop"."project" as t1 ("tenant_id", "id", "name")
  values ($1::integer, $2::bigint, $3::text), ($4::integer, $5::bigint, $6::text)
  returning t1."tenant_id" as c0, t1."id" as c1, t1."tenant_id" as shard)
select pg_catalog.set_config('rowgraph.keys_1_c0', (pg_catalog.json_agg(w.c0::text order by w.m))::text, true),
pg_catalog.set_config('rowgraph.keys_1_c1', (pg_catalog.json_agg(w.c1::text order by w.m))::text, true),
case when pg_catalog.count(*) < 2 then ('rowgraph: insert-left-out: ' || (select ''))::int4::text else '' end
from (select w.*, i.m, i.n
  from (select r.*, pg_catalog.row_number() over (partition by r.shard order by r."place") as "rank"
    from (select r.*, pg_catalog.row_number() over () as "place"
      from written as r) as r) as w
  left join (select r.*, pg_catalog.row_number() over (partition by r.o0 order by r.m) as "rank"
    from (select v.column1 as m, v.column2 as n, v.column3 as o0, v.column4 as o1, v.column5 as o2
      from (values (1, 0, $1::integer, $2::bigint, $3::text), (2, 1, $4::integer, $5::bigint, $6::text)) as v) as r) as i on i.o0 = w.shard and i."rank" = w."rank") as w cross join (select 1 from pg_catalog.pg_am limit 1) as here;

insert into "shop"."task" as t1 ("id", "title", "tenant_id", "project_id")
values ($1::bigint, $2::text, (pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb ->> 0)::integer, (pg_catalog.current_setting('rowgraph.keys_1_c1', true)::jsonb ->> 0)::bigint), ($3::bigint, $4::text, (pg_catalog.current_setting('rowgraph.keys_1_c0', true)::jsonb ->> 1)::integer, (pg_catalog.current_setting('rowgraph.keys_1_c1', true)::jsonb ->> 1)::bigint);

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
