with changed as (update "public"."stage" as t1
  set "capacity" = $1::integer
  where (t1."id" = $2::integer and t1."capacity" < $3::integer)
  returning t1."id"::text as c0, case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $4::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as counted)
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w), '[]')::text, true), 0),
pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true)
from (select c0
  from changed) as w;

select pg_catalog.concat('{"affectedCount":', pg_catalog.json_array_length((select pg_catalog.current_setting('rowgraph.written', true)::json)), $1::text,
  '[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"name":', pg_catalog.to_json(t1."name"),
        ',"festival":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
            from "public"."festival" as t2
            where t2."id" = t1."festival_id"), 'null'),
        '}'), ','), ''),
  ']}')
from (select t1.*
  from pg_catalog.json_to_recordset((select pg_catalog.current_setting('rowgraph.written', true)::json)) as w(c0 text)
  cross join lateral (select t1."name", t1."festival_id"
    from "public"."stage" as t1
    where t1."id" = w.c0::integer
    limit 1) as t1) as t1;

with changed as (delete from "public"."performance" as t1
  where (t1."stage_id" = $1::integer and t1."slot" = $2::integer)
  returning pg_catalog.concat('{"edges":[', pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."stage_id"::int4,
              ', ', t1."slot"::int4,
              ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), '],"__typename":"PerformanceDeleteResponse"}') as "response")
select coalesce((select "response"
    from changed), '{"edges":[],"__typename":"PerformanceDeleteResponse"}');
