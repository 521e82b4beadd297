with changed as (update "public"."festival" as t1
  set "name" = $1::text
  where t1."id" < $2::integer
  returning t1."id"::text as c0, case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $3::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as counted)
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w), '[]')::text, true), 0),
pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true)
from (select c0
  from changed) as w;

select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', coalesce(pg_catalog.to_json((select t2."name"
                      from "public"."act" as t2
                      where t2."id" = t1."opener_id")), 'null'),
                ', ', (select pg_catalog.count(*)
                  from "public"."ticket" as t3
                  where t3."festival_id" = t1."id")::int8,
                ', ', t1."id"::int4,
                ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ',' order by (select t2."name"
        from "public"."act" as t2
        where t2."id" = t1."opener_id"), (select pg_catalog.count(*)
        from "public"."ticket" as t3
        where t3."festival_id" = t1."id") desc, t1."id"), ''), ']}')
from (select t1.*
  from pg_catalog.json_to_recordset((select pg_catalog.current_setting('rowgraph.written', true)::json)) as w(c0 text)
  cross join lateral (select t1."opener_id", t1."id"
    from "public"."festival" as t1
    where t1."id" = w.c0::integer
    limit 1) as t1) as t1;
