with changed as (update "public"."visitor" as t1
  set "email" = $1::text
  where t1."id" = $2::integer
  returning pg_catalog.concat('{"affectedCount":1,"records":[{"email":', pg_catalog.to_json(t1."email"), '}]}') as "response")
select pg_catalog.concat(coalesce(t2."response", '{"affectedCount":0,"records":[]}'), case when (t2."response" is not null)::int4 > $3::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left((t2."response" is not null)::int4::text, 0))::int4::text else '' end)
from (select (select "response"
    from changed) as "response") as t2;
