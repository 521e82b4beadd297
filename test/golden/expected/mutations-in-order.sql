insert into "public"."visitor" as t1 ("id", "email")
values ($1::integer, $2::text)
returning '{"affectedCount":1}';

with changed as (update "public"."visitor" as t1
  set "phone" = $1::text
  where t1."id" = $2::integer
  returning pg_catalog.concat('{"records":[{"telephone":', coalesce(pg_catalog.to_json(t1."phone"), 'null'), '}]}') as "response")
select coalesce((select "response"
    from changed), '{"records":[]}');

with changed as (delete from "public"."visitor" as t1
  where t1."id" = $1::integer
  returning '{"affectedCount":1}' as "response")
select coalesce((select "response"
    from changed), '{"affectedCount":0}');
