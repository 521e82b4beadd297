insert into "public"."pass" as t1 ("id", "holder")
values ($1::integer, $2::text)
on conflict on constraint "pass_holder_key" do update
set "id" = excluded."id", "used" = t1."used" + $3::int4
where exists (select 1
  from "public"."pass" as t2
  where t2."id" = t1."id") and t1."used" < $4::integer
returning pg_catalog.concat('{"records":[{"id":', t1."id"::int4, '}]}');
