with changed as (insert into "public"."visitor" as t1 ("id", "email")
  values ($1::integer, $2::text)
  returning 1 as c0)
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w), '[]')::text, true), 0)
from (select c0
  from changed) as w;

select pg_catalog.concat('{"affectedCount":', pg_catalog.json_array_length((select pg_catalog.current_setting('rowgraph.written', true)::json)),
  ',"query":{"visitorCollection":', (select pg_catalog.concat('{', $1::text,
      '[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t2."id"::int4, ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), ','), ''),
      ']}')
    from (select t2."id"
      from "public"."visitor" as t2
      order by t2."id"
      limit 30) as t2),
  ',"visitorByPk":', coalesce((select pg_catalog.concat('{"email":', pg_catalog.to_json(t3."email"), '}')
      from "public"."visitor" as t3
      where t3."id" = $2::integer
      limit 1), 'null'),
  '}}');

with changed as (delete from "public"."big_stage" as t1
  where t1."id" = $1::integer
  returning t1."festival_id"::text as c0, (coalesce(pg_catalog.to_json(t1."name"), 'null'))::text as c1, case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $2::int4 then ('rowgraph: delete-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as counted)
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w), '[]')::text, true), 0),
pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true)
from (select c0, c1
  from changed) as w;

select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"name":', t1."(json 1)",
        ',"festival":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
            from "public"."festival" as t2
            where t2."id" = t1."festival_id"), 'null'),
        '}'), ','), ''), ']}')
from (select t1.*
  from pg_catalog.json_to_recordset((select pg_catalog.current_setting('rowgraph.written', true)::json)) as w(c0 text, c1 text)
  cross join lateral (select t1."festival_id" as "festival_id", null::text as "(json 1)"
    from "public"."big_stage" as t1
    where false
    union all
    select w.c0::integer as "festival_id", w.c1 as "(json 1)") as t1) as t1;

with changed as (update "public"."musician" as t1
  set "full_name" = $1::text
  where t1."full_name" = $2::text
  returning t1."id"::text as c0, case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $3::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as counted)
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w), '[]')::text, true), 0),
pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true)
from (select c0
  from changed) as w;

select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"fullName":', pg_catalog.to_json(t1."full_name"), '}'), ','), ''),
  '],"query":{"festivalCollection":', (select pg_catalog.concat('{"totalCount":', pg_catalog.count(*), '}')
    from "public"."festival" as t2),
  '}}')
from (select t1.*
  from pg_catalog.json_to_recordset((select pg_catalog.current_setting('rowgraph.written', true)::json)) as w(c0 text)
  cross join lateral (select t1."full_name"
    from "public"."musician" as t1
    where t1."id" = w.c0::uuid
    limit 1) as t1) as t1;

with changed as (update "public"."musician" as t1
  set "id" = $1::uuid
  where t1."full_name" = $2::text
  returning t1."id"::text as c0, case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $3::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as counted)
select pg_catalog.left(pg_catalog.set_config('rowgraph.written', coalesce(pg_catalog.json_agg(w), '[]')::text, true), 0),
pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true)
from (select c0
  from changed) as w;

select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"mentorId":', coalesce('"' || t1."mentor_id"::uuid::text || '"', 'null'), '}'), ','), ''), ']}')
from (select t1.*
  from pg_catalog.json_to_recordset((select pg_catalog.current_setting('rowgraph.written', true)::json)) as w(c0 text)
  cross join lateral (select t1."mentor_id"
    from "public"."musician" as t1
    where t1."id" = w.c0::uuid
    limit 1) as t1) as t1;
