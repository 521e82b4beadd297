with changed as (delete from "public"."review" as t1
  where t1."stars" < $1::integer
  returning t1."stage_id"::text as c0, t1."slot"::text as c1, (t1."id"::int4)::text as c2, case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $2::int4 then ('rowgraph: delete-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as counted)
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w), '[]')::text, true), 0),
pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true)
from (select c0, c1, c2
  from changed) as w;

select pg_catalog.concat('{"affectedCount":', pg_catalog.json_array_length((select pg_catalog.current_setting('rowgraph.written', true)::json)),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"id":', t1."(json 1)",
        ',"performance":', coalesce((select pg_catalog.concat('{"act":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t3."name"), '}')
                  from "public"."act" as t3
                  where t3."id" = t2."act_id"), 'null'), '}')
            from "public"."performance" as t2
            where t2."stage_id" = t1."stage_id" and t2."slot" = t1."slot"), 'null'),
        '}'), ','), ''),
  ']}')
from (select t1.*
  from pg_catalog.json_to_recordset((select pg_catalog.current_setting('rowgraph.written', true)::json)) as w(c0 text, c1 text, c2 text)
  cross join lateral (select t1."stage_id" as "stage_id", t1."slot" as "slot", null::text as "(json 1)"
    from "public"."review" as t1
    where false
    union all
    select w.c0::integer as "stage_id", w.c1::integer as "slot", w.c2 as "(json 1)") as t1) as t1;
