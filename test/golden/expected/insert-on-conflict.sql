with changed as (insert into "public"."act" as t1 ("id", "name", "genre", "touring")
  values ($1::bigint, $2::text, $3::public.genre, default), ($4::bigint, $5::text, $6::public.genre, $7::boolean)
  on conflict on constraint "act_name_key" do update
  set "genre" = excluded."genre", "touring" = excluded."touring", "fee" = t1."fee" + $8::numeric
  where t1."founded" < $9::smallint
  returning t1."id", t1."fee")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"id":"', t1."id"::int8,
        '","fee":', coalesce('"' || t1."fee"::numeric::text || '"', 'null'),
        '}'), ','), ''),
  ']}')
from changed as t1;

insert into "public"."stage" as t1 ("id", "festival_id", "name")
values ($1::integer, $2::integer, $3::character varying(20))
on conflict on constraint "stage_pkey" do update
set "name" = excluded."name"
where exists (select 1
  from "public"."festival" as t2
  where t2."id" = t1."festival_id" and t2."name" = $4::text)
returning pg_catalog.concat('{"affectedCount":1,"records":[{"name":', pg_catalog.to_json(t1."name"), '}]}');
